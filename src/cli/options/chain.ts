import type { Network } from '../../chain/eth/genesis.js'
import type { FileKind } from '../../ingest/importFiles.js'
import type { Option } from './option.js'
import { choice, flag, maybeText } from './rows.js'

// As in `ingest/importFiles`, which is too large to load for `--help`; the type checks that they agree.
const FILE_KINDS = ['chain-rlp', 'era1', 'starknet'] as const satisfies readonly FileKind[]

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
    ['mainnet', 'sepolia', 'holesky', 'hoodi', 'dev'] as const satisfies (Network | 'dev')[],
    ['import', 'sync', 'serve'],
    'Built-in network: its genesis and its fork schedule. dev: the chain of the upstream, a development node (anvil, geth ' +
      'in dev mode), whose genesis is read from it; --genesis then adds the accounts that the node was started with.',
  ),
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
  fixture: maybeText(
    'fixture',
    'DIR',
    ['serve'],
    'Import DIR into a temporary database and serve it without a key; DIR needs a genesis.json. bundled: the small chain ' +
      'that comes with Cairn.',
    'none',
  ),
} as const satisfies { [key: string]: Option<unknown> }
