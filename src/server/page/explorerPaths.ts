/** The paths of EIP-3091, each with what may follow: a number, a 32-byte hash, or a 20-byte address. */
const PATHS: { readonly [view: string]: RegExp } = {
  block: /^(\d{1,15}|0x[\da-f]{1,12}|0x[\da-f]{64}|latest|earliest|pending|safe|finalized)$/i,
  tx: /^0x[\da-f]{64}$/i,
  address: /^0x[\da-f]{40}$/i,
  token: /^0x[\da-f]{40}$/i,
}

/** Returns the location of the view of an explorer path (EIP-3091), relative to that path: `../#/block/12` for
 *  `/block/12`. Undefined for any other path. */
export function viewOfPath(path: string): string | undefined {
  const [, view, item, slash] = /^\/(\w+)\/(\w+)(\/?)$/.exec(path) ?? []
  if (view === undefined || !Object.hasOwn(PATHS, view) || !PATHS[view].test(item)) return undefined
  return `${slash === '' ? '../' : '../../'}#/${view}/${item.toLowerCase()}`
}
