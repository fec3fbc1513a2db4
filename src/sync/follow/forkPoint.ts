import { equalBytes } from '../../lib/bytes.js'
import type { EthRpc, UpstreamHeader } from '../../sources/ethRpc/types.js'
import type { WritableChain } from '../chainState.js'
import { NoCommonBlock } from './errors.js'

/** Returns the number of the newest block that is on the stored chain and on the upstream's chain with the head
 *  `target`; undefined when the upstream's chain changed meanwhile, or it lacks a needed header. Asks for O(log depth)
 *  headers.
 *  @throws NoCommonBlock when even the first stored block differs */
export async function findForkPoint(
  { reader }: WritableChain,
  rpc: EthRpc,
  target: UpstreamHeader,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { first, head } = reader.coverage()!
  const isCommon = async (number: number): Promise<boolean | undefined> => {
    const header = number === target.header.number ? target : await rpc.headerByNumber(number, signal)
    return header && equalBytes(header.hash, reader.blockHash(number)!)
  }
  const top = Math.min(head, target.header.number)
  if (top < first) return undefined // the upstream is still below the first stored block
  const topIsCommon = await isCommon(top)
  if (topIsCommon) return top
  if (topIsCommon === undefined) return undefined
  // Most forks are one or two blocks deep: steps back of 1, 2, 4, …, then halves between the last two.
  let different = top
  let common: number | undefined
  for (let step = 1; common === undefined; step *= 2) {
    if (different === first) throw new NoCommonBlock(first)
    const number = Math.max(first, different - step)
    const same = await isCommon(number)
    if (same === undefined) return undefined
    if (same) common = number
    else different = number
  }
  while (different - common > 1) {
    const middle = Math.floor((common + different) / 2)
    const same = await isCommon(middle)
    if (same === undefined) return undefined
    if (same) common = middle
    else different = middle
  }
  return common
}
