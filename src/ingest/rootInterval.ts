// To hash a state of a million accounts takes longer than to execute an ordinary block: together, blocks share work.
const LARGE_STATE = 250_000
const LARGE_STATE_INTERVAL = 64

/** How many blocks come from one check of the state root to the next: `wanted`, or where that is 0, every block of a small
 *  state, and of a large one as long as it is at the head; 64 when so many are to come. */
export function chooseRootInterval(wanted: number, accounts: number, blocksLeft: number): number {
  if (wanted > 0) return wanted
  return accounts >= LARGE_STATE && blocksLeft >= LARGE_STATE_INTERVAL ? LARGE_STATE_INTERVAL : 1
}
