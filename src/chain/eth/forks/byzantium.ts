import { defineFork } from './fork.js'

export const byzantium = defineFork('byzantium', {
  keys: ['byzantiumBlock'],
  parameters: {
    difficulty: 'byzantium', // EIP-100
    bombDelay: 3_000_000, // EIP-649
    blockReward: 3n,
    eip658: true,
  },
  precompiles: [
    [5, 'MODEXP'], // EIP-198
    [6, 'BN254_ADD'], // EIP-196
    [7, 'BN254_MUL'],
    [8, 'BN254_PAIRING'], // EIP-197
  ],
  instructions: [
    [0x3d, 'RETURNDATASIZE', 0, 1, 2], // EIP-211
    [0x3e, 'RETURNDATACOPY', 3, 0, 3], // EIP-211
    [0xfa, 'STATICCALL', 6, 1, 700], // EIP-214
    [0xfd, 'REVERT', 2, 0, 0], // EIP-140
  ],
})
