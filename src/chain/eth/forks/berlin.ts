import { defineFork } from './fork.js'

export const berlin = defineFork('berlin', {
  keys: ['berlinBlock'],
  parameters: {
    maxTransactionType: 1, // EIP-2930
    eip2929: true,
    modexpPricing: 2565,
    storage: { noChange: 100, reset: 2900 },
  },
  // Access costs depend on warmth (EIP-2929), so they are not in the constant gas.
  instructions: [
    [0x31, 'BALANCE', 1, 1, 0],
    [0x3b, 'EXTCODESIZE', 1, 1, 0],
    [0x3c, 'EXTCODECOPY', 4, 0, 0],
    [0x3f, 'EXTCODEHASH', 1, 1, 0],
    [0x54, 'SLOAD', 1, 1, 0],
    [0xf1, 'CALL', 7, 1, 0],
    [0xf2, 'CALLCODE', 7, 1, 0],
    [0xf4, 'DELEGATECALL', 6, 1, 0],
    [0xfa, 'STATICCALL', 6, 1, 0],
  ],
})
