// The words of this task on the page.

export const say = {
  labels: {query: "query of the list"},
};
