// The words of this task on the page.

export const say = {
  labels: {target: "target similarity"},
};
