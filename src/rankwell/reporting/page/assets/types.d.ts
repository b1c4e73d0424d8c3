// Types of the page's data (docs/reference/results.md) and of what the scripts pass around; read by tsc alone.

/** Places in `queries`, `runs`, `measures` and `items`. */
type Query = number;
type Run = number;
type MeasurePlace = number;
type Item = number;

type State = "relevant" | "nonrelevant" | "unjudged" | "junk";

/** A row of a list: item, rank, score, grade, state, and what only its task has. */
type ListRow = [Item, number | null, number | null, number | null, State, any];
/** The same of an item that was retrieved. */
type RankedRow = [Item, number, number | null, number | null, State, any];
/** The rows of a query's list per run. */
type Lists = ListRow[][];

interface Measure {
  name: string;
  label: string;
  unit: string;
  better: "higher" | "lower" | "neither" | null;
  of: string | null;
  summary?: string | null;
  definition?: string | null;
}

interface SummaryRow {
  run: Run;
  measure: MeasurePlace;
  mean: number | null;
  ceiling?: number;
  chance?: number;
  low: number | null;
  high: number | null;
  sd: number | null;
  n: number;
}

interface DifferenceRow {
  a: Run;
  b: Run;
  measure: MeasurePlace;
  difference: number | null;
  low: number | null;
  high: number | null;
  p: number | null;
  adjusted_p?: number | null;
  decisive?: boolean | null;
  better: number | null;
  worse: number | null;
  equal: number | null;
  role?: "primary" | "secondary" | "repeated" | "descriptive" | null;
}

/** The number of queries that a stage failed, and why; alone: how many of them are right from the right passage. */
interface FailureRow {
  failed: string;
  why: string;
  n: number;
  share: number;
  alone: number | null;
}

/** The runs as settings of an engine: parameters that vary, those of each engine that do not, and per run its values and choices. */
interface Settings {
  varying: string[];
  fixed: [string, string][][];
  rows: SettingRow[];
}

interface SettingRow {
  run: Run;
  values: (string | null)[];
  choices: string[];
  /** Processors that other processes used, where that is too much. */
  others: number | null;
}

/** A request of a query without an answer. */
interface UnansweredRow {
  run: Run;
  query: Query | null;
  id: string;
  round: number;
  status: string;
  error: string | null;
}

interface GroupRow {
  name: string;
  value: unknown;
  n: number;
  verdict: string | null;
  decisive?: boolean | null;
  small: boolean;
}

interface Chart {
  id: string;
  title: string;
  note?: string | null;
  spec: any;
}

interface ChartRoom {
  plot: number;
  room: number;
  cut: boolean;
}

interface Queries {
  id: string[];
  text: (string | null)[];
  attributes: Record<string, any[]>;
  attribute_runs?: Record<string, Run[]>;
  flags: Record<string, Query[][]>;
  values: ((number | null)[] | null)[][];
  relevant?: (number | null)[][] | null;
  first?: (number | null)[][] | null;
  unjudged?: number[][] | null;
  picture?: (Item | null)[] | null;
}

interface Items {
  id: string[];
  text: (string | null)[];
  thumbnail: (string | null)[];
}

interface PageData {
  title: string;
  tool: string;
  protocol: string;
  noun?: [one: string, other: string];
  verdicts?: string[];
  pair?: [Run, Run] | null;
  digits?: number;
  findings?: Finding[];
  failures?: FailureRow[];
  settings?: Settings | null;
  unanswered?: UnansweredRow[];
  rules?: [string, string][];
  inputs?: [string, string][];
  runs: string[];
  measures: Measure[];
  lead?: MeasurePlace;
  summary: SummaryRow[];
  differences: DifferenceRow[];
  groups: GroupRow[];
  charts?: Chart[];
  queries: Queries;
  items: Items;
  shown?: {queries: number; of: number; results: number; rule: string};
  lists: Record<Query, Lists>;
  parts?: [file: string, first: Query, last: Query][];
}

/** The lists of some queries in a file beside the page. */
interface PagePart {
  lists: Record<Query, Lists>;
  items?: Record<Item, {text?: string | null; thumbnail?: string | null}>;
}

interface Window {
  rankwellPart(part: PagePart): void;
  vegaEmbed(place: Element, spec: any, options: any): Promise<{view: {finalize(): void}}>;
}

/** Both ends included; null is open. */
type Interval = [number | null, number | null];

/** All that the reader has chosen. */
interface Choices {
  view: "overview" | "queries" | "method";
  query: Query | null;
  measure: MeasurePlace;
  a: Run;
  b: Run | null;
  sort: string;
  reversed: boolean;
  seed: number;
  search: string;
  differ: boolean;
  ranges: {a: Interval; b: Interval; delta: Interval};
  flags: string[];
  attributes: Record<string, string>;
  /** Any of them; "" stands for a note. */
  tags: string[];
  theme: string | null;
}

type Filters = Pick<Choices, "search" | "differ" | "ranges" | "flags" | "attributes" | "tags">;

/** What the reader has written about a query. */
interface Note {
  note: string;
  tags: string[];
}

/** A column of the table of queries; its name is the key of its order. */
interface Column {
  name: string;
  heading: string;
  title: string | null;
  cell: (query: Query) => Child;
  numeric: boolean;
}

type Attributes = Record<string, string | number | boolean | null | undefined> | null;
type Child = Node | string | number | null | undefined | false | Child[];

/** A task's view of a query. */
interface TaskView {
  /** Stands above the lists. */
  summary?: (query: Query) => Node | null;
  /** Stands in place of an item's id. */
  title?: (row: ListRow | RankedRow) => Child;
  /** Stands below an item. */
  result?: (row: RankedRow) => Child;
  /** The word for an item that was not retrieved. */
  absent?: (row: ListRow) => string | null;
  /** Whether items are tiles. */
  tile?: boolean;
  /** Words for names of attributes. */
  labels?: Record<string, string>;
  /** What stands in place of the scores and the charts; null for these. */
  tables?: (pieces: OverviewPieces) => (Element | null)[] | null;
  /** Words for the first relevant item, and for one that is absent. */
  first?: {title: string; name: string; absent: string};
  /** The measure whose values are drawn in place of ranks. */
  share?: (measures: Measure[]) => Measure | undefined;
  /** Attributes that are kinds of queries; all of them where this is absent. */
  slices?: string[];
  /** Whether a query has failed, and what became of it. */
  fails?: (query: Query) => boolean;
  outcome?: (query: Query) => string;
}

/** The bands of a stacked bar: its title, the name of what it bands, words for each band, and the band of a query. */
interface Bands {
  title: string;
  name: string;
  labels: string[];
  of: (run: Run, query: Query) => number | null;
}

/** What to know before reading a number; `sort` is the order of queries that shows it. */
interface Finding {
  name: string;
  level: "error" | "warning" | "info";
  message: string;
  detail?: string;
  run?: string;
  queries?: Query[] | null;
  sort?: string;
}

/** Parts of the overview that a task may arrange. */
interface OverviewPieces {
  card: (id: string, title: Child, note: string | null, ...children: Child[]) => Element;
  chartCard: (chart: Chart) => Element;
}

/** The bins of a histogram with the range that they cover; width in pixels. */
interface Spread {
  low: number;
  high: number;
  width: number;
  counts: number[];
}

/** The elements of page.html that scripts name, where they are more than an HTMLElement. */
interface PageElements {
  measure: HTMLSelectElement;
  "run-a": HTMLSelectElement;
  "run-b": HTMLSelectElement;
  search: HTMLInputElement;
  table: HTMLTableElement;
  help: HTMLDialogElement;
  "to-overview": HTMLAnchorElement;
  "to-queries": HTMLAnchorElement;
  "to-method": HTMLAnchorElement;
  skip: HTMLAnchorElement;
  "copy-ids": HTMLButtonElement;
  "save-csv": HTMLButtonElement;
  "save-jsonl": HTMLButtonElement;
  "save-notes": HTMLButtonElement;
}

/** A relevant item with its row in the list of each run compared. */
interface RelevantItem {
  item: Item;
  grade: number | null;
  rows: (ListRow | null)[];
}

/** One of the lists shown side by side, with what it is compared with. */
interface ListParts {
  run: Run;
  side: number;
  rows: RankedRow[];
  lists: Lists;
  compared: Run[];
  tiles: boolean;
}

/** Writes a score like the others of its column. */
type ScoreWriter = (score: number | null) => string;

/** A result in its list, with the next one and the rows of the other list. */
interface CardParts {
  side: number;
  next: RankedRow | undefined;
  like: ScoreWriter;
  terms: Set<string>;
  elsewhere: Map<Item, ListRow> | null;
}

/** The queries of the table in order, and which of their rows are built. */
interface ShownRows {
  queries: Query[];
  cursor: number;
  compact: boolean;
  from: number;
  to: number;
  all: boolean;
  columns: Column[];
  reach: number;
}

type ColumnMaker = (name: string, heading: string, title: string | null, cell: (query: Query) => Child, numeric?: boolean) => Column;

/** A number of each query in the list of a side. */
type OfSide = (side: "a" | "b") => (query: Query) => number | null;

/** A column of numbers of relevant items; side: null where both sides have the same. */
interface RelevantColumn {
  name: "relevant" | "relevant_a" | "relevant_b";
  side: "A" | "B" | null;
  of: (query: Query) => number | null;
}

/** An attribute with the queries of each of its values. */
interface Slice {
  name: string;
  label: string;
  parts: [value: string, places: Query[]][];
}

type Level = "ceiling" | "chance" | "n";

/** A sign of the page with its meaning, and what a page needs to have it. */
interface Sign {
  sign: string;
  meaning: string;
  needs: ("lists" | "pair")[];
}
