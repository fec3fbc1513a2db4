import { createHash } from 'node:crypto'
import { keyOfBytes } from '../../lib/bytes.js'
import type { ChainReader } from '../../store/chainReader.js'
import type { RpcLimits } from '../context.js'
import type { LogFilterObject } from './logFilter.js'
import { resolveFilter } from './resolveFilter.js'

/** A name of all logs that a filter wants: equal for filters that differ in the order or the repetition of values, in the
 *  letter case, or in how they name the same blocks. It holds the hash of the last block of the range, with which all
 *  blocks up to it are known: another chain gives another key, and a block on top of the range does not. Undefined when
 *  that block is not held. @throws as `resolveFilter` does. */
export function logFilterKey(chain: ChainReader, object: LogFilterObject, limits: RpcLimits): string | undefined {
  const { fromBlock, toBlock, addresses = [], topics } = resolveFilter(chain, object, limits)
  // The filter's own hash, in case that a reorg has just put another block at its number.
  const lastHash = object.blockHash ?? chain.blockHash(toBlock)
  if (lastHash === undefined) return undefined
  const clauses = [addresses, ...topics].map((values) => (values?.length ? sortedValues(values) : []))
  // The counts say where each value belongs; a clause of none wants any value, and how many topics there are counts too.
  const shape = JSON.stringify([fromBlock, ...clauses.map((values) => values.length)])
  const hash = createHash('sha256').update(lastHash).update(shape)
  for (const values of clauses) hash.update(values.join(''), 'latin1')
  return hash.digest('base64')
}

function sortedValues(values: readonly Uint8Array[]): string[] {
  return [...new Set(values.map(keyOfBytes))].sort()
}
