import type { BenchRun } from '../lib/bench.js'
import { count, text } from '../lib/options.js'

/** Options of `npm run bench:replica`. */
export const OPTIONS = {
  accounts: count(250_000, 'of the state before'),
  slots: count(500_000, 'of that state'),
  blocks: count(1_000, 'that are applied while catching up'),
  tip: count(200, 'blocks that come one by one'),
  reorg: count(32, 'blocks of a reorg'),
  interval: count(1_024, 'blocks that the trie may be behind while catching up, at most'),
  keep: text('directory where the blocks are kept for the next run'),
  seconds: count(15, 'of each measurement of reads'),
  connections: count(8, 'of the clients that read'),
  'block-ms': count(500, 'between two blocks while clients read'),
  'read-blocks': count(150, 'of the chain that is read'),
  megabytes: count(1_000, 'of the database of a snapshot'),
  rounds: count(3, 'snapshots to each place'),
}

/** A run of the bench. */
export type ReplicaRun = BenchRun<typeof OPTIONS>
