import { L2_NETWORK_NAMES } from '../../chain/starknet/networks.js'
import type { Option } from './option.js'
import { choice, parseAddress, parseSwitch } from './rows.js'

/** Options under the heading "Layer 2". */
export const layer2Options = {
  l2Verify: {
    flag: 'l2-verify',
    placeholder: 'on|off',
    default: true,
    defaultText: 'on',
    doc: 'Recompute the hashes of layer-2 blocks.',
    commands: ['import', 'serve'],
    parse: parseSwitch('l2-verify'),
  },
  l2Network: choice(
    'l2-network',
    L2_NETWORK_NAMES,
    ['import', 'serve'],
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
