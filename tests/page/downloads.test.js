import assert from "node:assert/strict";
import test from "node:test";

import {ASSETS, load, openPage} from "./page.js";

openPage();
const {shownRows} = await load(`${ASSETS}/table.js`);
const {csvText, jsonLines, records} = await load(`${ASSETS}/downloads.js`);

test("a record has the values of both runs and what is unknown as null", () => {
  shownRows.queries = [1, 5];

  assert.deepEqual(records()[0], {
    query: "q9", text: "rain in Paris", type: "even", flags: null, relevant: 2, measure: "nDCG@10", run_a: "one", run_b: "two",
    value_a: 0.25, value_b: 0.5, difference: 0.25, first_a: null, first_b: 1,
  });
  assert.deepEqual([records()[1].value_a, records()[1].difference], [null, null]);
});

test("CSV quotes what needs it, guards texts that a spreadsheet would run, and never ids", () => {
  const text = csvText([{query: "-q,1", text: "=1+1", note: 'a "b"\nc', value: -0.5, none: null}]);

  assert.equal(text, 'query,text,note,value,none\n"-q,1",\'=1+1,"a ""b""\nc",-0.5,\n');
});

test("JSON Lines have a line per record", () => {
  assert.equal(jsonLines([{a: "x\ny"}, {a: null}]), '{"a":"x\\ny"}\n{"a":null}\n');
});
