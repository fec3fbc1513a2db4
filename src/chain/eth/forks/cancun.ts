import { parseHex } from '../../../lib/hex.js'
import { defineFork } from './fork.js'

/** 20 bytes. */
export const BEACON_ROOTS = parseHex('0x000f3df6d732807ef1319fb7b8bb8522d0beac02') // EIP-4788

export const cancun = defineFork('cancun', {
  keys: ['cancunTime'],
  headerFields: [
    { name: 'blobGasUsed', label: 'blob gas used', type: 'uint', bytes: 8, empty: 0n, inGenesis: true }, // EIP-4844
    { name: 'excessBlobGas', label: 'excess blob gas', type: 'uint', bytes: 8, empty: 0n, inGenesis: true },
    {
      name: 'parentBeaconBlockRoot',
      label: 'parent beacon block root',
      type: 'fixed',
      bytes: 32,
      empty: new Uint8Array(32),
      inGenesis: true,
    }, // EIP-4788
  ],
  blobs: { target: 3, max: 6, baseFeeUpdateFraction: 3338477n }, // EIP-4844
  parameters: { eip4844: true, maxTransactionType: 3, keepsOldDestructed: true },
  precompiles: [[10, 'KZG_POINT_EVALUATION']], // EIP-4844
  systemCalls: [{ address: BEACON_ROOTS, input: 'parentBeaconBlockRoot' }],
  systemContracts: [['BEACON_ROOTS_ADDRESS', BEACON_ROOTS]],
  instructions: [
    [0x49, 'BLOBHASH', 1, 1, 3], // EIP-4844
    [0x4a, 'BLOBBASEFEE', 0, 1, 2], // EIP-7516
    [0x5c, 'TLOAD', 1, 1, 100], // EIP-1153
    [0x5d, 'TSTORE', 2, 0, 100],
    [0x5e, 'MCOPY', 3, 0, 3], // EIP-5656
  ],
})
