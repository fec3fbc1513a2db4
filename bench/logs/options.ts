import type { BenchRun } from '../lib/bench.js'
import { count, flag, list, text } from '../lib/options.js'

/** What can be measured beside Cairn and the ordinary design. */
export const PEERS = ['duckdb', 'postgres'] as const
export type PeerName = (typeof PEERS)[number]

/** Options of `npm run bench:logs`. */
export const OPTIONS = {
  logs: count(2_000_000, 'of the synthetic chain'),
  seed: count(1, 'of the chain', 0),
  peers: list(PEERS, 'other stores of the same logs'),
  datadir: text('directory of the databases, which are kept'),
  reuse: flag('measures those of --datadir again; --logs and --seed are as they were filled'),
  tips: count(0, 'more tip blocks, stored and measured in all stores', 0),
  'no-ordinary': flag('leaves the ordinary design out, which needs 860 bytes of disk per log'),
  runs: count(30, 'queries per filter; selective filters ten times as many'),
  clients: count(64, 'clients of the load phase'),
  seconds: count(60, 'of the load phase'),
  'idle-seconds': count(60, 'after the load, before the memory of the server is read again', 0),
  'anvil-logs': count(500_000, 'logs that anvil executes, at most'),
  'question-blocks': count(1_000, 'of 60 transactions, for the questions of docs/queries.md'),
  'l2-blocks': count(5_000, 'layer-2 blocks of 200 events'),
}

/** A run of the bench. */
export type LogsRun = BenchRun<typeof OPTIONS>
