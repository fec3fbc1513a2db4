import { InvalidBlock } from '../../chain/eth/invalidBlock.js'
import { InvalidL2Block } from '../../chain/starknet/errors.js'
import { messageOf } from '../../lib/errors.js'
import {
  UpstreamError,
  UpstreamInvalidResponse,
  UpstreamTimeout,
  UpstreamUnreachable,
  WrongChain,
} from '../../sources/upstreams/errors.js'
import { describeDiskFailure } from '../../store/diskFailure.js'
import { ReorgBelowFinalized, StateRootDiffers } from '../head/errors.js'
import { NoCommonBlock, StateDumpNotInChain } from './errors.js'

/** Why a process does not follow its source. */
export interface Stopped {
  /** The block that cannot be stored; null where the failure does not concern a block. */
  readonly block: number | null
  /** Short name of the failure: the rule that a block breaks, `disk space`, `write access`, `upstream`. */
  readonly check: string
  /** Description with the values. */
  readonly reason: string
}

/** Describes an error that ends an attempt to follow into the database in `datadir`. `next`: the block to be stored
 *  next, if known. */
export function describeStop(error: unknown, datadir: string, next: number | null): Stopped {
  const disk = describeDiskFailure(error, datadir)
  if (disk) return { block: next, ...disk }
  const { block, check } = locate(error)
  return { block: block ?? next, check, reason: messageOf(error) }
}

function locate(error: unknown): { block?: number; check: string } {
  if (error instanceof InvalidBlock) return { block: error.blockNumber, check: error.check }
  if (error instanceof InvalidL2Block) return { check: error.check }
  if (error instanceof UpstreamInvalidResponse) return { block: error.blockNumber, check: error.check }
  if (error instanceof WrongChain) return { check: error.what }
  if (error instanceof UpstreamUnreachable || error instanceof UpstreamTimeout) return { check: 'connection' }
  if (error instanceof UpstreamError) return { check: 'upstream' }
  if (error instanceof ReorgBelowFinalized) return { block: error.finalized, check: 'finality' }
  if (error instanceof NoCommonBlock) return { block: error.firstAvailable, check: 'common block' }
  if (error instanceof StateDumpNotInChain) return { block: error.blockNumber, check: 'state dump' }
  if (error instanceof StateRootDiffers) return { block: error.to, check: 'state root' }
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown }
  return { check: String(code ?? name ?? 'error') }
}
