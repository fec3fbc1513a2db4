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
  const text = brotliDecompressSync(readFileSync(packagePath('test/support/chains/op/chain.ndjson.br'))).toString(
    'utf8',
  )
  const [first, ...blocks] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { ...first, blocks }
}
