// A page without a browser: nodes that keep what scripts put into them, and the data of a small result.

/** What stands in for an element: its tag, attributes and children, and the text of all of them. */
class FakeNode {
  constructor(tag) {
    this.tag = tag;
    this.attributes = {};
    this.children = [];
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
  }

  append(...children) {
    this.children.push(...children);
  }

  get textContent() {
    return this.children.map(child => (child instanceof FakeNode ? child.textContent : String(child))).join("");
  }

  /** All nodes in it of a class, in order. */
  ofClass(name) {
    const inner = this.children.flatMap(child => (child instanceof FakeNode ? child.ofClass(name) : []));
    return this.attributes.class?.split(" ").includes(name) ? [this, ...inner] : inner;
  }
}

/** Six queries of two runs and two measures; the last query has no values, and two queries share an id. */
export function smallData() {
  return {
    protocol: "runs",
    title: "one and two",
    tool: "rankwell 0",
    runs: ["one", "two"],
    measures: [
      {name: "nDCG@10", label: "nDCG@10", unit: "share", better: "higher", of: null},
      {name: "Rank", label: "Rank", unit: "rank", better: "lower", of: null},
    ],
    summary: [],
    differences: [],
    groups: [],
    rules: [["k", "2"], ["eps", "0.005"]],
    queries: {
      id: ["q10", "q9", "Q2", "twice", "twice", "q11"],
      text: ["Été à Paris", "rain in Paris", "q", null, "q", "q"],
      attributes: {type: ["odd", "even", "odd", "even", "odd", null]},
      flags: {tied: [[0], [2]], short: [[2], [2]]},
      values: [
        [
          [0.5, 0.25, 1, 0.1, 0.3, null],
          [0.5, 0.5, 0.25, 0.3, 0.1, null],
        ],
        [
          [1, 2, 3, 4, 5, null],
          [2, 1, 3, 4, 7, null],
        ],
      ],
      relevant: [
        [1, 2, 3, 0, 0, 0],
        [1, 2, 3, 0, 0, 0],
      ],
      first: [
        [1, null, 2, 3, 4, null],
        [2, 1, null, 3, 4, null],
      ],
    },
    items: {id: ["a", "b", "c", "d"]},
    lists: {
      0: [
        [[0, 1, 3, 1, "relevant", null], [1, 2, 2, null, "unjudged", null], [2, 3, 1, 0, "nonrelevant", null]],
        [[0, 1, 3, 1, "relevant", null], [1, 2, 2, null, "unjudged", null], [2, 3, 1, 0, "nonrelevant", null]],
      ],
      1: [
        [[1, 2, 1, null, "unjudged", null], [0, 1, 2, 1, "relevant", null], [3, null, null, 1, "relevant", null]],
        [[2, 1, 2, null, "junk", null], [3, 2, 1, 1, "relevant", null]],
      ],
    },
  };
}

/** Puts the data into a page, before its modules are imported. */
export function openPage(data = smallData()) {
  const source = new FakeNode("script");
  source.append(JSON.stringify(data));
  globalThis.window = {};
  globalThis.location = {hash: "", replace: address => (globalThis.location.hash = address)};
  globalThis.document = {
    createElement: tag => new FakeNode(tag),
    createElementNS: (_, tag) => new FakeNode(tag),
    getElementById: id => (id === "data" ? source : null),
  };
}

/** A module of the page, by its path below the package. */
export function load(path) {
  return import(new URL(`../../src/rankwell/${path}`, import.meta.url).href);
}

export const ASSETS = "reporting/page/assets";
