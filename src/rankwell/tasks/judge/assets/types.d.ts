// Types of the judging page: what the scripts pass around, and what a store of judgments does; read by tsc alone.

/** A grade, "unknown" or "open"; null where there is none yet. */
type JudgedAnswer = number | string | null;

/** Where an item is; postponed: its place among the postponed ones, 0 for none. */
interface JudgingAsk {
  answer: JudgedAnswer;
  postponed: number;
  note: string;
}

interface JudgingState {
  turn: number;
  judge: string;
  study: string;
  grades: {grade: number; name: string}[];
  guideline: string;
  batch: number | null;
  batches: number | null;
  left: number | null;
  asks: JudgingAsk[];
}

interface ShownTexts {
  title?: string;
  text?: string;
  answer?: string;
  fields: [name: string, text: string][];
}

interface ShownItem extends ShownTexts {
  id?: string;
  picture?: string;
  missing?: string;
}

/** What is displayed of an item. */
interface ShownAsk {
  query: ShownTexts;
  item: ShownItem;
}

/** What a judge does: a grade or an action; seen: the answer that the page displayed. */
interface JudgingAct {
  turn: number;
  ask: number;
  seen: JudgedAnswer;
  grade?: number;
  action?: string;
  note: string;
  seconds: number;
}

/** Where judgments are kept; `act` resolves once they are on the disk, and throws Outdated where another window was first. */
interface JudgingStore {
  open(): Promise<JudgingState>;
  item(turn: number, ask: number): Promise<ShownAsk>;
  act(act: JudgingAct): Promise<JudgingAsk>;
  /** The state after the next batch was taken; null where this page has one batch only. */
  next: ((turn: number) => Promise<JudgingState>) | null;
  /** Saves all judgments as a file; null where they are in the study already. */
  download: (() => Promise<void>) | null;
}

/** Added to those of the report's page: the elements of judging.html. */
interface PageElements {
  note: HTMLTextAreaElement;
  progress: HTMLProgressElement;
  guideline: HTMLDetailsElement;
  download: HTMLButtonElement;
}

/** The study that a page belongs to: a page of another one is refused, even where both have its items. */
interface StudyName {
  name: string;
  identity: string;
}

/** A line of the journal, as an offline page writes it. */
interface JournalEntry {
  time: string;
  judge: string;
  query: string;
  item: string;
  grade?: number;
  action?: string;
  note: string;
  seconds: number;
  place: number;
  guideline: string;
  purpose?: string;
  study: StudyName;
}

/** A line with the place of its item in the page. */
interface KeptLine {
  ask: number;
  line: JournalEntry;
}

/** What an offline page holds. file: the beginning of the names of downloads. digest: that of the guideline. */
interface OfflineBatch {
  identity: string;
  study: StudyName;
  file: string;
  digest: string;
  head: Omit<JudgingState, "turn" | "asks">;
  queries: ShownTexts[];
  asks: {query: number; content: ShownItem; ids: [query: string, item: string, purpose: string]}[];
}
