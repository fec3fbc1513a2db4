import type { BenchRun } from '../lib/bench.js'
import { count, text } from '../lib/options.js'

/** Options of `npm run bench:sync`. */
export const OPTIONS = {
  blocks: count(300, 'of the chain of full blocks'),
  depth: count(64, 'blocks of a reorg'),
  ways: text('of the phase rates, or begins of their names, separated by semicolons; default: all'),
  reorgs: count(10, 'how many reorgs'),
  rest: count(1_500, 'milliseconds before each reorg, and after the last'),
  commits: count(100, 'blocks that are followed one by one'),
  starts: count(9, 'how many starts'),
  subscribers: count(2_000, 'each gets one log of each block'),
  'subscriber-blocks': count(100, 'blocks that they are notified of'),
  logs: count(250, 'in each of these blocks'),
  geth: text('program to compare subscriptions and payloads with'),
  history: count(5_000, 'blocks, of a transaction each, before the followed ones'),
  follows: count(500, 'blocks that are followed from anvil'),
  transactions: count(20, 'in each of them'),
  interval: count(50, 'milliseconds between them'),
  accounts: count(200_000, 'of the state that sparse state is fetched of'),
  slots: count(100_000, 'of that state'),
  'state-dir': text('where databases with such states are kept, and looked for; default: none is kept'),
  followers: text('of execute, none, proofs, witness and auto, with commas; all but none by default'),
  'block-percent': count(100, 'of the changes, logs and transactions of a block of mainnet that its blocks have'),
  'sparse-blocks': count(200, 'that are followed with sparse state'),
  window: count(20, 'of them, the first and the last ones, whose costs are compared', 1),
}

/** A run of the bench. */
export type SyncRun = BenchRun<typeof OPTIONS>
