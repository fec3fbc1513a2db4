import { defineFork } from './fork.js'

export const istanbul = defineFork('istanbul', {
  keys: ['istanbulBlock'],
  parameters: {
    nonZeroByteGas: 16, // EIP-2028
    eip1108: true,
    storage: { net: true, sentry: 2300, noChange: 800 }, // EIP-2200, EIP-1884
  },
  precompiles: [[9, 'BLAKE2F']], // EIP-152
  instructions: [
    [0x31, 'BALANCE', 1, 1, 700], // EIP-1884
    [0x3f, 'EXTCODEHASH', 1, 1, 700],
    [0x54, 'SLOAD', 1, 1, 800],
    [0x46, 'CHAINID', 0, 1, 2], // EIP-1344
    [0x47, 'SELFBALANCE', 0, 1, 5], // EIP-1884
  ],
})
