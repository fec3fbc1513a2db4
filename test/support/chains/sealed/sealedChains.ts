import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { packagePath } from '../../../../src/store/open.js'

/* Chains whose blocks validators seal, with transactions of all types, votes, and blocks of later rounds:
 * besuQbft: 60 blocks that validators of Besu 26.3 made in one process, with a validator contract from block 18 on
 *   (tools/sealedChains/Network.java);
 * besuIbft2: 60 blocks that the code of Besu 24.5.2 executed and imported with its full validation
 *   (tools/sealedChains/MakeChain.java);
 * goQuorum: 115 blocks of four validators of GoQuorum 24.4.1; clique: 110 blocks of three signers of the same node
 *   (tools/sealedChains/record.mjs). */

/** Names of the chains. */
export const SEALED_CHAINS = ['besuQbft', 'besuIbft2', 'goQuorum', 'clique'] as const
export type SealedChainName = (typeof SEALED_CHAINS)[number]

/** A block as the peer executed it. */
export interface SealedBlock {
  /** RLP, as hex data. */
  readonly raw: string
  readonly hash: string
  readonly receipts: readonly {
    readonly status: string
    readonly cumulativeGasUsed: string
    readonly contractAddress?: string | null
    /** Number of logs. */
    readonly logs: number
  }[]
  /** Balances after the block, by address. */
  readonly balances: { readonly [address: string]: string }
  /** Validators that may seal the next block; of Besu. */
  readonly validators?: readonly string[]
  /** Outermost frames of the callTracer by transaction, output cut after 32 bytes; of GoQuorum. */
  readonly traces?: readonly { readonly [member: string]: string | undefined }[]
}

/** A chain of a peer. */
export interface SealedChain {
  readonly genesis: object
  /** Hash of block 0, as hex data. */
  readonly hash: string
  /** From block 1 on. */
  readonly blocks: readonly SealedBlock[]
}

/** Reads a chain. */
export function readSealedChain(name: SealedChainName): SealedChain {
  const file = packagePath(join('test', 'support', 'chains', 'sealed', `${name}.ndjson.br`))
  const [first, ...blocks] = brotliDecompressSync(readFileSync(file))
    .toString()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { ...first, blocks }
}
