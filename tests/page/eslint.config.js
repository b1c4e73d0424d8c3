// Rules for the page's scripts and their tests; the style of the code is that of the files themselves.

import js from "@eslint/js";
import globals from "globals";

// Two words in a row, or one with a capital letter: what a reader sees. Classes, selectors, keys and errors of programs are not.
const SENTENCE = "/(^|[^\\w.#-])[A-Za-z]{2,} [a-z]{2,}|^[A-Z][a-z]{2,}/";
const UNSEEN = [
  "Property[key.name='class']",
  "CallExpression[callee.property.name=/^(querySelector|querySelectorAll|closest|split|getElementById)$/]",
  "NewExpression[callee.name='Error']",
  "BinaryExpression[operator='===']",
  "ImportDeclaration",
];
const NO_SENTENCES = ["Literal[value=", "TemplateElement[value.raw="].map(kind => ({
  selector: `${kind}${SENTENCE}]:not(${UNSEEN.map(each => `${each} *`).join(", ")})`,
  message: "What a reader sees is in the words.js of its folder.",
}));

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
  {
    files: ["src/rankwell/reporting/page/assets/*.js", "src/rankwell/tasks/*/page.js", "src/rankwell/tasks/*/assets/*.js"],
    ignores: ["**/words.js", "**/terms.js"],
    rules: {"no-restricted-syntax": ["error", ...NO_SENTENCES]},
  },
  {files: ["tests/page/*.js"], languageOptions: {globals: globals.node}},
];
