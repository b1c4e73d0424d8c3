// The words of this task on the page.

export const say = {
  /** @type {Record<string, [string, string]>} */
  directions: {
    "t2v": ["text to video", "the video that the caption describes"],
    "v2t": ["video to text", "a caption of the video, among all captions"],
    "v2t-videos": ["video to text, among videos", "the video itself, each video scored by the best of its captions"],
  },
  first: {title: "Where is the first right one?", name: "first right", absent: "not retrieved"},
  /** @param {string} what */
  right: what => `right is ${what}`,
  nothingRight: "nothing right was found",
  /** @param {string} rank */
  best: rank => `best right one at rank ${rank}`,
  /** @param {string} gap */
  behind: gap => `, ${gap} short of the first`,
  /** @param {string} gap */
  ahead: gap => `, ${gap} ahead of the first wrong one`,
};
