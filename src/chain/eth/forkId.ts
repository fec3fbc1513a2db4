import { crc32 } from 'node:zlib'
import { bigIntToFixedBytes } from '../../lib/bytes.js'
import type { ChainSpec } from './forks/rules.js'

/** The fork hash (EIP-2124, EIP-6122) of a chain at time `timestamp` (Unix seconds), when all forks by block number are
 *  active. An unsigned 32-bit integer. Undefined for a chain from a genesis file without `genesisHash` (32 bytes). */
export function forkHashAt(
  spec: ChainSpec,
  genesisHash: Uint8Array | undefined,
  timestamp: bigint,
): number | undefined {
  const seed = genesisHash === undefined ? spec.genesisChecksum : crc32(genesisHash)
  if (seed === undefined) return undefined
  // A merge by total difficulty does not count as a fork; networks that need one name a netsplit block.
  const blocks = spec.activations.flatMap(({ fork, block }) => (block === undefined || fork === 'paris' ? [] : [block]))
  if (spec.mergeNetsplitBlock !== undefined) blocks.push(spec.mergeNetsplitBlock)
  const times = spec.activations.flatMap((activation) => activation.timestamp ?? [])
  times.push(...(spec.otherForkTimes ?? []))
  return [
    ...ascending(blocks.map(BigInt).filter((block) => block > 0n)),
    ...ascending(times.filter((time) => time > (spec.genesisTime ?? 0n) && time <= timestamp)),
  ].reduce((checksum, at) => crc32(bigIntToFixedBytes(at, 8), checksum), seed)
}

/** Sorts the values and drops duplicates. */
function ascending(values: readonly bigint[]): bigint[] {
  return [...new Set(values)].sort((a, b) => (a < b ? -1 : Number(a > b)))
}
