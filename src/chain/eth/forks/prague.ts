import { parseHex } from '../../../lib/hex.js'
import { EMPTY_REQUESTS_HASH } from '../emptyHashes.js'
import { defineFork } from './fork.js'

/** 20 bytes. */
export const HISTORY_STORAGE = parseHex('0x0000f90827f1c53a10cb7a02335b175320002935') // EIP-2935
/** 20 bytes. */
export const WITHDRAWAL_REQUESTS = parseHex('0x00000961ef480eb55e80d19ad83579a64c007002') // EIP-7002
/** 20 bytes. */
export const CONSOLIDATION_REQUESTS = parseHex('0x0000bbddc7ce488642fb579f8b00f3a590007251') // EIP-7251

export const prague = defineFork('prague', {
  keys: ['pragueTime'],
  headerFields: [
    { name: 'requestsHash', label: 'requests hash', type: 'fixed', bytes: 32, empty: EMPTY_REQUESTS_HASH },
  ], // EIP-7685
  blobs: { target: 6, max: 9, baseFeeUpdateFraction: 5007716n }, // EIP-7691
  parameters: {
    eip7685: true,
    maxTransactionType: 4,
    floorByteGas: 10, // EIP-7623
    delegations: true,
  },
  precompiles: [
    [11, 'BLS12_G1ADD'], // EIP-2537
    [12, 'BLS12_G1MSM'],
    [13, 'BLS12_G2ADD'],
    [14, 'BLS12_G2MSM'],
    [15, 'BLS12_PAIRING_CHECK'],
    [16, 'BLS12_MAP_FP_TO_G1'],
    [17, 'BLS12_MAP_FP2_TO_G2'],
  ],
  systemCalls: [{ address: HISTORY_STORAGE, input: 'parentHash' }],
  requestContracts: [WITHDRAWAL_REQUESTS, CONSOLIDATION_REQUESTS],
  systemContracts: [
    ['CONSOLIDATION_REQUEST_PREDEPLOY_ADDRESS', CONSOLIDATION_REQUESTS],
    ['DEPOSIT_CONTRACT_ADDRESS', undefined], // EIP-6110
    ['HISTORY_STORAGE_ADDRESS', HISTORY_STORAGE],
    ['WITHDRAWAL_REQUEST_PREDEPLOY_ADDRESS', WITHDRAWAL_REQUESTS],
  ],
})
