import type { Felt } from '../../chain/starknet/felt.js'
import type { Upstream } from '../upstreams/upstream.js'
import type { L2Dialect } from './types.js'

interface Search {
  upstream: Upstream
  dialect: L2Dialect
  hashOf(number: number): Felt | undefined
  signal: AbortSignal | undefined
}

/** Returns the highest stored block in the range that the upstream reports as accepted on layer 1, by its `l1_accepted`
 *  tag, else by a search over the statuses in O(log n) requests. Blocks that the upstream has with another hash do not
 *  count. @throws UpstreamError */
export async function searchAccepted(
  { upstream, dialect, hashOf, signal }: Search,
  { from, to }: { from: number; to: number },
): Promise<number | undefined> {
  if (to < from) return undefined
  const tagged = await dialect.acceptedOnL1(upstream, signal)
  // A tag above the newest stored block: that block may be accepted, too, if it is on the upstream's chain.
  if (tagged !== undefined && tagged.number <= to) {
    return tagged.number >= from && hashOf(tagged.number) === tagged.hash ? tagged.number : undefined
  }
  const isAccepted = async (number: number): Promise<boolean> => {
    const held = hashOf(number)
    if (held === undefined) return false
    const found = await dialect.status(upstream, number, signal)
    return found?.isAcceptedOnL1 === true && found.hash === held
  }
  // Usually nothing has changed, or a few blocks were accepted: steps of 1, 2, 4, …, then halves.
  let accepted = from - 1
  let refused = to + 1
  for (let step = 1; accepted + step < refused; step *= 2) {
    const number = accepted + step
    if (await isAccepted(number)) accepted = number
    else refused = number
  }
  while (refused - accepted > 1) {
    const middle = Math.floor((accepted + refused) / 2)
    if (await isAccepted(middle)) accepted = middle
    else refused = middle
  }
  return accepted >= from ? accepted : undefined
}
