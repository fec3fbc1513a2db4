import { defineFork } from './fork.js'

export const constantinople = defineFork('constantinople', {
  keys: ['constantinopleBlock'],
  parameters: {
    bombDelay: 5_000_000, // EIP-1234
    blockReward: 2n,
    storage: { net: true }, // EIP-1283
  },
  instructions: [
    [0x1b, 'SHL', 2, 1, 3], // EIP-145
    [0x1c, 'SHR', 2, 1, 3],
    [0x1d, 'SAR', 2, 1, 3],
    [0x3f, 'EXTCODEHASH', 1, 1, 400], // EIP-1052
    [0xf5, 'CREATE2', 4, 1, 32_000], // EIP-1014
  ],
})
