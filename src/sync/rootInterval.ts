// Hashing a state of a million accounts takes longer than executing an ordinary block; blocks share work when hashed
// together.
const LARGE_STATE = 250_000
const LARGE_STATE_INTERVAL = 64

/** Blocks between two checks of the state root: `wanted`, or if 0: 1 for a small state or at the head, 64 for a large
 *  state with that many blocks to come. */
export function chooseRootInterval(wanted: number, accounts: number, blocksLeft: number): number {
  if (wanted > 0) return wanted
  return accounts >= LARGE_STATE && blocksLeft >= LARGE_STATE_INTERVAL ? LARGE_STATE_INTERVAL : 1
}
