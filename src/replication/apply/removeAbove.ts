import type { Logger } from '../../lib/logger.js'
import { noProgress } from '../../lib/progress.js'
import type { Checkpoints } from '../../store/checkpoints.js'
import type { WritableChain } from '../../sync/chainState.js'
import { ReorgBelowFinalized } from '../../sync/head/errors.js'
import type { BlockRef } from '../../sync/head/events.js'
import { rewindChain } from '../../sync/rewindChain.js'

interface RemoveOptions {
  log: Logger
  signal: AbortSignal
  checkpoints?: Checkpoints
  mayGoBelowFinalized: boolean
}

/** Removes the blocks above a stored one, in one transaction if they are few. @returns true if there were any
 *  @throws ReorgBelowFinalized when that is not allowed */
export async function removeAbove(
  chain: WritableChain,
  { number }: BlockRef,
  options: RemoveOptions,
): Promise<boolean> {
  const { log, signal, checkpoints, mayGoBelowFinalized } = options
  const { head } = chain
  const own = head.newest!.header.number
  if (own <= number) return false
  const { finalized } = head.finality()
  const isBelow = head.isFinalityStored() && number < finalized
  if (isBelow && !mayGoBelowFinalized) throw new ReorgBelowFinalized(number, finalized)
  log.warn({ head: own, published: number, finalized }, 'blocks that were not published are removed')
  await rewindChain(chain, number, { startProgress: () => noProgress, signal, checkpoints })
  return true
}
