import { readFileSync } from 'node:fs'
import { brotliDecompressSync } from 'node:zlib'
import { packagePath } from '../../../../src/store/open.js'

/** A JSON object. */
export interface RecordedObject {
  readonly [member: string]: unknown
}

/** A block as geth of Gnosis executed it. */
export interface GnosisBlock {
  /** RLP of the block, as hex data. */
  readonly raw: string
  readonly hash: string
  /** Results of the callTracer by transaction, with logs. */
  readonly traces: readonly RecordedObject[]
  /** Balances after the block, by address. */
  readonly balances: { readonly [address: string]: string }
  /** Slots of the contract of withdrawals after the block: amounts by account, failed calls (0x0), limit (0x1). */
  readonly withdrawn: { readonly [slot: string]: string }
  /** Calls, and the results of eth_estimateGas for them after the block. */
  readonly calls: readonly { readonly request: RecordedObject; readonly estimate: string }[]
}

/** A development chain of Gnosis, eight blocks each of Shanghai, Cancun, Prague and Osaka, which geth of Gnosis 1.16.3
 *  imported with full validation. tools/gnosisChain/record.ts made it. */
export interface GnosisChain {
  readonly genesis: RecordedObject & { readonly config: RecordedObject & { readonly aura: RecordedObject } }
  /** Hash of block 0, as hex data. */
  readonly hash: string
  /** From block 1 on. */
  readonly blocks: readonly GnosisBlock[]
}

/** Reads the chain. */
export function readGnosisChain(): GnosisChain {
  const file = readFileSync(packagePath('test/support/chains/gnosis/chain.ndjson.br'))
  const [first, ...blocks] = brotliDecompressSync(file)
    .toString()
    .split('\n')
    .map((line) => JSON.parse(line))
  return { ...first, blocks }
}

const NEW_MEMBERS = ['index', 'totalDifficulty', 'blockTimestamp']

/** Returns an answer without what geth 1.17 has and geth of Gnosis, which is 1.16, does not: some members, and the
 *  words of errors other than reverts. */
export function withoutNewMembers<T>(answer: T): T {
  const change = (name: string, value: unknown) => {
    if (NEW_MEMBERS.includes(name)) return undefined
    return name === 'error' && value !== 'execution reverted' ? 'failed' : value
  }
  return JSON.parse(JSON.stringify(answer, change)) as T
}
