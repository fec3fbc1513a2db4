import { readFileSync } from 'node:fs'
import { decodeBlock, encodeBlock } from '../../src/chain/eth/block.js'
import { measureRlp } from '../../src/chain/eth/rlp.js'
import { encodeTransaction } from '../../src/chain/eth/transaction.js'
import type { Block } from '../../src/chain/eth/types.js'
import { formatData, parseHex } from '../../src/lib/hex.js'
import { packagePath } from '../../src/store/open.js'

/** A call to be recorded. */
export interface RpcCase {
  params: unknown
  /** Members of the result object that are recorded; undefined: all. */
  keep?: readonly string[]
  /** Members of the result object that are not recorded, since they differ from call to call. */
  drop?: readonly string[]
  /** The example of the method. Without it, the first short case with a whole, non-empty result is. */
  example?: true
  /** Calls before it on the same connection: method and parameters. `$1` in `params` is the result of the first. */
  before?: readonly (readonly [method: string, params: unknown])[]
  /** The transport it needs. */
  transport?: 'http' | 'websocket'
  /** True if the result is another one each time. */
  varies?: true
  /** The server it is about: options of `cairn serve`, or a name in test/support/exampleServers. */
  on?: string
}

/** True for a case that any server of the bundled fixture answers alike over any transport: fixtures/rpc has these. */
export function isPlain({ before, transport, varies, on }: RpcCase): boolean {
  return !before && !transport && !varies && on === undefined
}

/** Cases by name, by method. */
export type CasesByMethod = { readonly [method: string]: { readonly [name: string]: RpcCase } }

/** The cases of each method from all groups; of two with the same name, the later one. */
export function joinCases(groups: readonly CasesByMethod[]): CasesByMethod {
  const joined: { [method: string]: { [name: string]: RpcCase } } = {}
  for (const [method, byName] of groups.flatMap(Object.entries)) joined[method] = { ...joined[method], ...byName }
  return joined
}

/** Parameters by position. */
export function positional(...params: unknown[]): RpcCase {
  return { params }
}

/** Parameters by name. */
export function named(params: object): RpcCase {
  return { params }
}

/** Hashes of the bundled fixture chain, so that cases name blocks by their number in the story. */
export interface FixtureHashes {
  /** Of block `number`, from 0. */
  block(number: number): string
  /** Of the transaction of block `number` at `index`. */
  transaction(number: number, index?: number): string
  /** That transaction as it is sent. */
  rawTransaction(number: number, index?: number): string
  /** RLP of block `number`, with another parent and number if they are named. */
  rawBlock(number: number, header?: { parentHash?: string; number?: number }): string
}

/** Reads the hashes from fixtures/chain. */
export function readFixtureHashes(): FixtureHashes {
  const chain = new Uint8Array(readFileSync(packagePath('fixtures/chain/chain.rlp')))
  const blocks: Block[] = []
  for (let at = 0; at < chain.length; ) {
    const { end } = measureRlp(chain, at)!
    blocks.push(decodeBlock(chain.subarray(at, end)))
    at = end
  }
  return {
    block: (number) => formatData(number === 0 ? blocks[0].header.parentHash : blocks[number - 1].hash),
    transaction: (number, index = 0) => formatData(blocks[number - 1].transactions[index].hash),
    rawTransaction: (number, index = 0) => formatData(encodeTransaction(blocks[number - 1].transactions[index])),
    rawBlock: (number, { parentHash, ...changed } = {}) => {
      const block = blocks[Math.max(0, number - 1)]
      const header = { ...block.header, ...(parentHash && { parentHash: parseHex(parentHash) }), ...changed }
      return formatData(encodeBlock({ ...block, header: number === 0 ? { ...header, number: 0 } : header }))
    },
  }
}

/** A block number as a quantity. */
export function quantity(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** A 32-byte word as data. */
export function word(value: number | bigint | string): string {
  const digits = typeof value === 'string' ? value.slice(2) : value.toString(16)
  return `0x${digits.padStart(64, '0')}`
}

/** Quantities that no JavaScript number holds: 2^53, the largest of 64 bits and the largest there is. */
export const LARGE_QUANTITIES = {
  'from-2-53': '0x20000000000000',
  'largest-64-bit': '0xffffffffffffffff',
  'largest-quantity': `0x${'f'.repeat(63)}`,
} as const

/** A case for each of `LARGE_QUANTITIES`. */
export function largeCases(make: (quantity: string) => RpcCase): { [name: string]: RpcCase } {
  return Object.fromEntries(Object.entries(LARGE_QUANTITIES).map(([name, quantity]) => [name, make(quantity)]))
}

/** A hash that nothing has. */
export const UNKNOWN_HASH = `0x${'5a'.repeat(32)}`
