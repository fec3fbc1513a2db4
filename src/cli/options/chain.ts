import { type ForkTimes, TIME_FORKS } from '../../chain/eth/forkSchedule.js'
import type { Network } from '../../chain/eth/genesis.js'
import { UsageError } from '../../lib/errors.js'
import { abbreviate } from '../../lib/hex.js'
import type { FileKind } from '../../sync/import/importFiles.js'
import type { Option } from './option.js'
import { choice, flag, maybeText, oneOf, parseHash, parseInteger } from './rows.js'

// Copy of the kinds in `sync/import/importFiles`, which is too large to load for `--help`. The type checks that they
// agree.
const FILE_KINDS = ['chain-rlp', 'era1', 'ere', 'starknet'] as const satisfies readonly FileKind[]

// Copy of the names in `chain/eth/genesis`, for the same reason.
const NETWORKS = [
  ...(['mainnet', 'sepolia', 'holesky', 'hoodi'] as const),
  ...(['op-mainnet', 'base', 'op-sepolia', 'base-sepolia', 'gnosis', 'chiado'] as const),
] satisfies Network[]

/** Options under the heading "Chain". */
export const chainOptions = {
  genesis: maybeText(
    'genesis',
    'FILE',
    ['import', 'sync', 'serve', 'record'],
    "Genesis file in geth's format, for a custom chain.",
    'none',
  ),
  network: choice(
    'network',
    [...NETWORKS, 'dev'] as const satisfies (Network | 'dev')[],
    ['import', 'sync', 'serve'],
    'Built-in network: its genesis and its fork schedule. Those of the OP stack and of Gnosis need --state ' +
      'sparse or none (docs/networks.md). dev: the chain of the upstream, a development node (anvil, geth ' +
      'in dev mode), whose genesis is read from it; --genesis then adds the accounts that the node was started with.',
  ),
  rollupConfig: maybeText(
    'rollup-config',
    'FILE',
    ['import', 'sync', 'serve'],
    'Rollup configuration of op-node (rollup.json), for a chain of the OP stack: its chain id, the hash of block 0, fork times and ' +
      'parameters of fees. --genesis adds parameters that it lacks, and the state of block 0 for --state execute.',
    'none',
  ),
  fork: {
    flag: 'fork',
    placeholder: 'NAME=TIME',
    default: undefined as ForkTimes | undefined,
    defaultText: "the chain's",
    repeatable: true,
    doc:
      'Time of a fork of the chain, from Shanghai on, in Unix seconds, or never: where the built-in one is wrong or missing. ' +
      'Stored in the database; possible while its newest block is before the old time and the new one. May be given more ' +
      'than once; one a line in the environment variable.',
    commands: ['import', 'sync', 'serve'],
    parse: parseForkTimes('fork'),
  },
  strict: flag(
    'strict',
    ['sync', 'serve'],
    'With --network dev: refuse a block whose state root is wrong. Otherwise that is a warning, and state roots are not ' +
      'compared from that block on.',
  ),
  kind: choice(
    'kind',
    FILE_KINDS,
    ['import'],
    'Format of the files, instead of detecting it from their content.',
    'detected',
  ),
  checkpoint: {
    flag: 'checkpoint',
    placeholder: 'HASH',
    default: undefined as Uint8Array | undefined,
    defaultText: 'none',
    doc:
      'Hash of a block that you trust, such as a finalized one of your consensus client. The blocks of .ere files must lead to ' +
      'it by parent hashes, and those above it are not imported. Without it, only links between blocks under proof of stake are known.',
    commands: ['import'],
    parse: parseHash('checkpoint'),
  },
  stateDump: maybeText(
    'state-dump',
    'FILE',
    ['import'],
    'Begin with the whole state after one block, from the output of geth snapshot dump, of geth dump --iterative, or a file of reth ' +
      'init-state; - reads standard input. Needs --at. Only in a new database.',
    'none',
  ),
  at: maybeText(
    'at',
    'FILE',
    ['import'],
    'Header of the block of --state-dump: JSON of eth_getBlockByNumber, or RLP of the header or block, as hex (debug_getRawHeader, ' +
      'debug_getRawBlock) or bytes.',
    'none',
  ),
  fixture: maybeText(
    'fixture',
    'DIR',
    ['serve'],
    'Import DIR into a temporary database and serve it without a key; DIR needs a genesis.json. bundled: the small chain ' +
      'that comes with Cairn.',
    'none',
  ),
} as const satisfies { [key: string]: Option<unknown> }

/** Returns a parser of fork times, one per line. The parser throws UsageError. */
function parseForkTimes(flag: string) {
  const parseName = oneOf(flag, TIME_FORKS)
  const parseTime = parseInteger(flag, { min: 0, max: Number.MAX_SAFE_INTEGER })
  return (value: string): ForkTimes | undefined => {
    const lines = value.split(/\s+/).filter((line) => line !== '')
    const times = lines.map((line) => {
      const [, name, time] = /^([^=]*)=(.*)$/.exec(line) ?? []
      if (name === undefined)
        throw new UsageError(`--${flag}: expected NAME=TIME, got ${JSON.stringify(abbreviate(line))}`)
      return [parseName(name), time === 'never' ? null : parseTime(time)] as const
    })
    if (times.length === 0) throw new UsageError(`--${flag} needs a value`)
    return Object.fromEntries(times)
  }
}
