// The error of an act on an item that another window has judged since.

export class Outdated extends Error {}
