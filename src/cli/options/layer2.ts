import { L2_NETWORK_NAMES } from '../../chain/starknet/networks.js'
import type { Option } from './option.js'
import { choice, maybeNumber, parseAddress, parseSwitch, parseWords } from './rows.js'
import { parseHeaderLines, type UpstreamHeaderLine } from './upstream.js'

/** Options under the heading "Layer 2". */
export const layer2Options = {
  l2Upstream: {
    flag: 'l2-upstream',
    placeholder: 'URL',
    default: [] as readonly string[],
    defaultText: 'none',
    repeatable: true,
    doc:
      'Starknet node to follow (JSON-RPC 0.6 to 0.10): its http, https, ws or wss URL. May be given more than once, as ' +
      '--upstream.',
    commands: ['sync', 'serve'],
    parse: parseWords('l2-upstream'),
  },
  l2Feeder: {
    flag: 'l2-feeder',
    placeholder: 'URL',
    default: [] as readonly string[],
    defaultText: 'none',
    repeatable: true,
    doc: 'Feeder gateway of Starknet to follow, with or without /feeder_gateway: its http or https URL. May be given more than once.',
    commands: ['sync', 'serve'],
    parse: parseWords('l2-feeder'),
  },
  l2Header: {
    flag: 'l2-header',
    placeholder: "'NAME: VALUE'",
    default: [] as readonly UpstreamHeaderLine[],
    defaultText: 'none',
    repeatable: true,
    doc: 'HTTP header sent to every --l2-upstream and --l2-feeder. May be given more than once, as --upstream-header.',
    commands: ['sync', 'serve'],
    parse: parseHeaderLines('l2-header'),
  },
  l2From: maybeNumber('l2-from', 'NUMBER', ['sync', 'serve'], {
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    doc: 'First layer-2 block to store in a database that holds none.',
    defaultText: '0',
  }),
  l2Verify: {
    flag: 'l2-verify',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc: 'Recompute the hashes of layer-2 blocks.',
    commands: ['import', 'sync', 'serve'],
    parse: parseSwitch('l2-verify'),
  },
  l2Network: choice(
    'l2-network',
    L2_NETWORK_NAMES,
    ['import', 'sync', 'serve'],
    'Network of the layer-2 blocks.',
    'detected from their hashes',
  ),
  l2CoreContract: {
    flag: 'l2-core-contract',
    placeholder: 'ADDRESS',
    default: undefined as Uint8Array | undefined,
    defaultText: 'that of the database; those of Starknet on mainnet and Sepolia',
    doc:
      'Starknet core contract on the layer-1 chain of the database: its LogStateUpdate logs accept layer-2 blocks. The ' +
      'database remembers it.',
    commands: ['import', 'sync', 'serve'],
    parse: parseAddress('l2-core-contract'),
  },
} as const satisfies { [key: string]: Option<unknown> }
