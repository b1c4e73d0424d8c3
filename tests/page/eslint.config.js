// Rules for the page's scripts and their tests; the style of the code is that of the files themselves.

import js from "@eslint/js";
import globals from "globals";

export default [
  js.configs.recommended,
  {
    linterOptions: {reportUnusedDisableDirectives: "error"},
    rules: {
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": ["error", {property: "innerHTML"}, {property: "outerHTML"}, {property: "insertAdjacentHTML"}],
      "no-shadow": "error",
      "no-unused-vars": ["error", {argsIgnorePattern: "^_", varsIgnorePattern: "^_$"}],
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-const": "error",
    },
  },
  {files: ["src/**/*.js"], languageOptions: {globals: globals.browser}},
  {files: ["tests/page/*.js"], languageOptions: {globals: globals.node}},
];
