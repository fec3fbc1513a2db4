import { UsageError } from '../../lib/errors.js'
import type { StartBlock } from '../../sync/follow/follower.js'
import type { Option } from './option.js'
import { flag, maybeNumber, maybeText } from './rows.js'

/** Options under the heading "Checks". */
export const checksOptions = {
  file: flag(
    'file',
    ['verify'],
    "Verify the file: SQLite's integrity check, the schema, and the sealed rows (meta, API keys).",
  ),
  blocks: flag('blocks', ['verify'], 'Verify blocks: recompute hashes, roots, blooms and senders from the rows.'),
  stateHistory: flag(
    'state-history',
    ['verify'],
    'Verify the state: replay its history and compare every state root; code hashes; the stored trie.',
  ),
  index: flag('index', ['verify'], 'Verify the indexes of logs, transactions and addresses against the rows.'),
  l2: flag('l2', ['verify'], 'Verify layer-2 blocks against their recordings.'),
  againstUpstream: maybeText(
    'against-upstream',
    'URL',
    ['verify'],
    'Prove base rows of sparse state again: accounts and slots at the newest block, against proofs (eth_getProof) of this node.',
    'none',
  ),
  sample: maybeNumber('sample', 'N', ['verify'], {
    min: 1,
    max: 10_000_000,
    doc: 'Accounts and slots that --against-upstream proves, chosen at random.',
    defaultText: 'all',
  }),
  sampleSeed: maybeNumber('sample-seed', 'N', ['verify'], {
    min: 0,
    max: 2 ** 32 - 1,
    doc: 'Seed of --sample, to choose the same accounts and slots again.',
    defaultText: 'another one each time, which is reported',
  }),
  from: {
    flag: 'from',
    placeholder: 'NUMBER|latest|finalized',
    default: undefined as StartBlock | undefined,
    defaultText: 'the first block; with sparse state the latest',
    doc:
      'verify: first block to verify. sync, serve: first block of a new database without state or with sparse state, which ' +
      'may also be the newest or the finalized block of the upstream.',
    commands: ['verify', 'sync', 'serve'],
    parse: parseFrom,
  },
  to: maybeNumber('to', 'NUMBER', ['verify', 'rewind'], {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'verify: last block to verify. rewind: last block to keep.',
    defaultText: 'verify: the newest block',
  }),
  segments: {
    flag: 'segments',
    placeholder: 'all|log:ID|transaction:ID|address:ID',
    default: undefined as SegmentChoice | undefined,
    defaultText: 'all',
    doc: 'Segments that --index verifies: all, or one by its id.',
    commands: ['verify'],
    parse: parseSegments,
  },
} as const satisfies { [key: string]: Option<unknown> }

/** @throws UsageError for anything but a block number or one of the tags */
function parseFrom(value: string): StartBlock {
  if (value === 'latest' || value === 'finalized') return value
  if (/^\d+$/.test(value) && Number.isSafeInteger(Number(value))) return Number(value)
  throw new UsageError(`--from: expected a block number, latest or finalized, got ${JSON.stringify(value)}`)
}

/** One segment of an index. */
export interface SegmentChoice {
  /** First word of the index's name. */
  index: string
  id: number
}

function parseSegments(value: string): SegmentChoice | undefined {
  if (value === 'all') return undefined
  const [, index, id] = /^(log|transaction|address):([1-9]\d{0,14})$/.exec(value) ?? []
  if (index === undefined) {
    throw new UsageError(`--segments: expected all, log:ID, transaction:ID or address:ID, got ${JSON.stringify(value)}`)
  }
  return { index, id: Number(id) }
}
