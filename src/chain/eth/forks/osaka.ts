import { defineFork } from './fork.js'

export const osaka = defineFork('osaka', {
  keys: ['osakaTime'],
  parameters: {
    eip7918: true,
    eip7934: true,
    eip7825: true,
    eip7594: true,
    modexpPricing: 7883,
    modexpMaxLength: 1024, // EIP-7823
  },
  precompiles: [[0x100, 'P256VERIFY']], // EIP-7951
  instructions: [[0x1e, 'CLZ', 1, 1, 5]], // EIP-7939
})
