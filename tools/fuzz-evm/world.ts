import type { Fork } from '../../src/chain/eth/forks/rules.js'
import type { Header, Log, Transaction } from '../../src/chain/eth/types.js'
import type { NewAccount } from '../../src/evm/interpreter/journal/journalAccount.js'

/** One case: transactions one after another on a state, under the rules of a fork. */
export interface World {
  fork: Fork
  header: Header
  accounts: [Uint8Array, NewAccount][]
  transactions: Transaction[]
}

/** What became of one transaction. */
export interface Result {
  /** It could not be executed; nothing else is known then. */
  refused: boolean
  succeeded?: boolean
  gasUsed?: bigint
  output?: Uint8Array
  logs?: Log[]
  contractAddress?: Uint8Array
}

/** What became of a world. */
export interface Run {
  results: Result[]
  /** The state root after all. */
  root: Uint8Array
  /** The state after all, for messages. */
  dump: string
}

/** What was compared. */
export interface Counts {
  worlds: number
  transactions: number
  /** Codes of contracts that transactions came to, once for each world, and init codes of transactions. */
  programs: number
}

/** Hash of a block for BLOCKHASH: any, but the same for both interpreters. */
export function blockHashOf(number: number): Uint8Array {
  return new Uint8Array(32).fill(number & 0xff)
}

/** The first difference between two runs in words; undefined when they are equal. */
export function difference(ours: Run, theirs: Run): string | undefined {
  for (const [index, result] of ours.results.entries()) {
    const words = describe(result)
    const expected = describe(theirs.results[index])
    if (words !== expected) return `transaction ${index}:\n  ours    ${words}\n  theirs  ${expected}`
  }
  if (hex(ours.root) === hex(theirs.root)) return undefined
  return `state:\nours\n${ours.dump}\ntheirs\n${theirs.dump}`
}

function describe({ refused, succeeded, gasUsed, output, logs, contractAddress }: Result): string {
  if (refused) return 'refused'
  const events = logs!.map(({ address, topics, data }) => `${hex(address)}[${topics.map(hex)}]${hex(data)}`)
  return [
    succeeded ? 'success' : 'failure',
    `gas ${gasUsed}`,
    `output ${hex(output!)}`,
    `logs ${events.join(' ')}`,
    `contract ${contractAddress && hex(contractAddress)}`,
  ].join(', ')
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
