// The judgments of one page in IndexedDB. A write counts once its transaction is complete, with strict durability: on the disk.

const STORE = "lines";
/** @type {Promise<IDBDatabase> | null} */
let opened = null;

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function done(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** The database of a page, made if need be. @param {string} identity */
export function database(identity) {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(`rankwell-study-${identity}`, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE, {autoIncrement: true}).createIndex("ask", "ask");
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  opened.catch(() => (opened = null));
  return opened;
}

/** All lines, in the order of writing. @param {IDBDatabase} kept @returns {Promise<KeptLine[]>} */
export function linesOf(kept) {
  return done(kept.transaction(STORE).objectStore(STORE).getAll());
}

/**
 * Adds a line if the lines of its item pass a test, in one transaction; the number of all lines, null where they do not.
 * @param {IDBDatabase} kept
 * @param {KeptLine} line
 * @param {(lines: KeptLine[]) => boolean} test
 * @returns {Promise<number | null>}
 */
export async function addLine(kept, line, test) {
  const transaction = kept.transaction(STORE, "readwrite", {durability: "strict"});
  const complete = new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve(null);
    transaction.onerror = transaction.onabort = () => reject(transaction.error);
  });
  const store = transaction.objectStore(STORE);
  const passes = test(await done(store.index("ask").getAll(line.ask)));
  if (passes) store.add(line);
  const count = await done(store.count());
  await complete;
  return passes ? count : null;
}
