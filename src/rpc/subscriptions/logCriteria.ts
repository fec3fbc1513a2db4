import { TooManyFilterParams } from '../../index/logs/errors.js'
import { countFilterParams } from '../../index/logs/filter.js'
import type { RpcContext } from '../core/context.js'
import { invalidParams } from '../core/errors.js'
import type { BlockNumberOrTag } from '../core/params.js'
import type { LogCriteria } from '../core/session.js'
import type { LogFilterObject } from '../eth/logFilter.js'

/** Lower-case hex digits, without `0x`. */
export const hexOf = (bytes: Uint8Array) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')
const setOf = (values: readonly Uint8Array[] | null | undefined) =>
  values?.length ? new Set(values.map(hexOf)) : undefined

/** The fields of a log that criteria compare, as `hexOf` writes them. */
export interface LogValues {
  readonly address: string // 40 digits
  readonly topics: readonly string[] // 64 digits each
}

/** Memory of a value in its set and in an index, with overhead. */
const VALUE_BYTES = 300
const FIXED_BYTES = 1_000

/** The criteria of a filter object, by geth's rules for bounds: `latest`, like its synonym `pending`, is no bound.
 *  @throws TooManyFilterParams; RpcError for reversed bounds */
export function logCriteria({ limits }: Pick<RpcContext, 'limits'>, filter: LogFilterObject): LogCriteria {
  const { addresses, topics, blockHash } = filter
  const count = countFilterParams({ fromBlock: 0, toBlock: 0, addresses, topics })
  if (count > limits.maxFilterParams) throw new TooManyFilterParams({ count, limit: limits.maxFilterParams })
  const [from, to] = [boundOf(filter.fromBlock), boundOf(filter.toBlock)]
  // geth: from `latest` to a number is reversed.
  if ((from === undefined && to !== undefined) || (to !== undefined && from! > to)) {
    throw invalidParams('invalid block range params')
  }
  return {
    fromBlock: from ?? 0,
    toBlock: to ?? Number.POSITIVE_INFINITY,
    blockHash: blockHash && hexOf(blockHash),
    addresses: setOf(addresses),
    topics: topics.map(setOf),
    sizeBytes: FIXED_BYTES + VALUE_BYTES * count,
  }
}

/** The number of a bound; undefined for the head. */
function boundOf(bound: BlockNumberOrTag = 'latest'): number | undefined {
  if (bound === 'earliest') return 0
  if (bound === 'latest' || bound === 'pending') return undefined
  if (typeof bound === 'number') return bound
  throw invalidParams('invalid block range params')
}

/** True when logs of the block may be wanted. */
export function wantsBlock(criteria: LogCriteria, { number, hash }: { number: number; hash: Uint8Array }): boolean {
  if (number < criteria.fromBlock || number > criteria.toBlock) return false
  return criteria.blockHash === undefined || criteria.blockHash === hexOf(hash)
}

/** True when such a log is wanted. */
export function wantsLog({ addresses, topics }: LogCriteria, log: LogValues): boolean {
  if (topics.length > log.topics.length) return false
  if (addresses !== undefined && !addresses.has(log.address)) return false
  return topics.every((values, i) => values === undefined || values.has(log.topics[i]))
}
