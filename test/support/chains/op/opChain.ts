import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { packagePath } from '../../../../src/store/open.js'

/* A chain of the OP stack that op-geth v1.101702.3 made and executed: 239 blocks after block 0, 24 for each fork from
 * Bedrock to Karst, with deposits of users and transactions of all types. tools/opChain/main.go made it. */

/** A block as op-geth returns it. */
export interface RecordedBlock {
  /** RLP of the block, as hex data. */
  readonly raw: string
  /** EIP-2718 bytes of each receipt, as hex data. */
  readonly rawReceipts: readonly string[]
  /** The result of eth_getBlockByNumber with whole transactions. */
  readonly block: RecordedObject & { readonly transactions: readonly RecordedObject[] }
  /** The result of eth_getBlockReceipts. */
  readonly receipts: readonly RecordedObject[]
}

/** A JSON object. */
export interface RecordedObject {
  readonly [member: string]: unknown
}

/** The whole chain. */
export interface OpChain {
  /** The genesis in op-geth's format. */
  readonly genesis: RecordedObject & { readonly config: { readonly [key: string]: number } }
  /** Hash of block 0, as hex data. */
  readonly hash: string
  /** Blocks by number. */
  readonly blocks: readonly RecordedBlock[]
}

/** Blocks of each fork. */
export const BLOCKS_PER_FORK = 24

/** Reads the chain. */
export function readOpChain(): OpChain {
  const [first, ...blocks] = readLines('chain.ndjson.br')
  return { ...withoutKarst(first), blocks } as OpChain
}

/** op-geth 1.101702.3 executes Karst by the rules of Jovian, so its last blocks are ones of Jovian. */
function withoutKarst({ genesis, ...rest }: Pick<OpChain, 'genesis' | 'hash'>): Pick<OpChain, 'genesis' | 'hash'> {
  const { karstTime: _, ...config } = genesis.config
  return { ...rest, genesis: { ...genesis, config } }
}

/** A block of the executed chain. */
export interface ExecutedBlock {
  /** RLP of the block, as hex data. */
  readonly raw: string
  readonly hash: string
  /** Results of the callTracer by transaction, with logs; inputs are cut after 1000 characters. */
  readonly traces: readonly RecordedObject[]
  /** Calls, and the results of eth_estimateGas for them after the block. */
  readonly calls: readonly { readonly request: RecordedObject; readonly estimate: string }[]
  /** Balances of the vaults after the block, by address. */
  readonly balances: { readonly [address: string]: string }
}

/** A chain of the OP stack that op-geth v1.101702.3 made with `tools/opChain -executed`, and executed as a node does:
 *  12 blocks for each fork, with contracts at the addresses of L1Block and L2ToL1MessagePasser, deposits that fail, and
 *  calls of precompiles beside their limits. */
export interface ExecutedOpChain extends Pick<OpChain, 'genesis' | 'hash'> {
  /** Blocks by number. */
  readonly blocks: readonly ExecutedBlock[]
}

/** Blocks of each fork of the executed chain. */
export const EXECUTED_BLOCKS_PER_FORK = 12

/** Reads the executed chain. */
export function readExecutedOpChain(): ExecutedOpChain {
  const [first, ...blocks] = readLines('executed.ndjson.br')
  return { ...withoutKarst(first), blocks } as ExecutedOpChain
}

// biome-ignore lint/suspicious/noExplicitAny: lines of two files
function readLines(name: string): any[] {
  const file = readFileSync(packagePath(`test/support/chains/op/${name}`))
  return brotliDecompressSync(file)
    .toString('utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
}
