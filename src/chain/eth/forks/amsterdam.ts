import { parseHex } from '../../../lib/hex.js'
import { EMPTY_ACCESS_LIST_HASH } from '../emptyHashes.js'
import { defineFork, type ForkDefinition, type InstructionRow, type ParameterChanges } from './fork.js'

/** 20 bytes. */
export const BUILDER_DEPOSIT_REQUESTS = parseHex('0x0000bff46984e3725691fa540a8c7589300d8282') // EIP-8282
/** 20 bytes. */
export const BUILDER_EXIT_REQUESTS = parseHex('0x000064d678505ad48f8ccb093bc65613800e8282') // EIP-8282

/** What Bogota has too on a chain that omits Amsterdam. */
export const AMSTERDAM_INSTRUCTIONS: readonly InstructionRow[] = [
  [0x3b, 'EXTCODESIZE', 1, 1, 100], // EIP-8038
  [0x3c, 'EXTCODECOPY', 4, 0, 100],
  [0x4b, 'SLOTNUM', 0, 1, 2], // EIP-7843
  [0xe6, 'DUPN', 1, 2, 3], // EIP-8024; their immediate byte may need more of the stack
  [0xe7, 'SWAPN', 2, 2, 3],
  [0xe8, 'EXCHANGE', 2, 2, 3],
  [0xf0, 'CREATE', 3, 1, 12_000], // EIP-8038
  [0xf5, 'CREATE2', 4, 1, 12_000],
]

/** Gas prices of EIP-8037 and EIP-8038 for instructions. */
export const AMSTERDAM_PRICES: ParameterChanges = {
  storage: { set: 10_100, reset: 10_100, clearRefund: 11_616, cold: 2000, stateGas: 97_920 }, // the cold access replaces the warm one
  destructNewAccountGas: 9000,
  coldAccountGas: 3000,
  callValueGas: 11_300,
  callNewAccountGas: 0,
  eip8037: true,
}

export const AMSTERDAM_CONTRACTS: ForkDefinition['systemContracts'] = [
  ['BUILDER_DEPOSIT_CONTRACT_ADDRESS', BUILDER_DEPOSIT_REQUESTS],
  ['BUILDER_EXIT_CONTRACT_ADDRESS', BUILDER_EXIT_REQUESTS],
]

export const amsterdam = defineFork('amsterdam', {
  keys: ['amsterdamTime'],
  networkTimes: { sepolia: 1_791_294_816n }, // as in geth 1.17.10. Hoodi's is in no release of a client: --fork sets it
  isOptional: true,
  headerFields: [
    {
      name: 'blockAccessListHash',
      label: 'block access list hash',
      type: 'fixed',
      bytes: 32,
      empty: EMPTY_ACCESS_LIST_HASH,
    }, // EIP-7928
    { name: 'slotNumber', label: 'slot number', type: 'uint', bytes: 8, empty: 0n, inGenesis: true }, // EIP-7843
  ],
  systemContracts: AMSTERDAM_CONTRACTS,
  instructions: AMSTERDAM_INSTRUCTIONS,
  requestContracts: [BUILDER_DEPOSIT_REQUESTS, BUILDER_EXIT_REQUESTS],
  parameters: {
    ...AMSTERDAM_PRICES,
    eip7928: true,
    eip7843: true,
    eip2780: true,
    eip7825: false, // replaced by a limit of the intrinsic gas (EIP-8037)
    maxCodeSize: 65_536, // EIP-7954
    maxInitCodeSize: 131_072,
    codeByteGas: 0,
    codeWordGas: 6,
    eip7610: false,
    eip7708: true,
    eip8037Full: true,
    eip8246: true,
  },
})
