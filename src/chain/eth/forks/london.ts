import { defineFork } from './fork.js'

const INITIAL_BASE_FEE = 1_000_000_000n // EIP-1559

export const london = defineFork('london', {
  keys: ['londonBlock'],
  headerFields: [
    { name: 'baseFeePerGas', label: 'base fee', type: 'uint', bytes: 32, empty: INITIAL_BASE_FEE, inGenesis: true },
  ],
  parameters: {
    eip1559: true,
    maxTransactionType: 2,
    bombDelay: 9_700_000, // EIP-3554
    refundQuotient: 5n, // EIP-3529
    destructRefund: 0, // EIP-3529
    storage: { clearRefund: 4800 },
    eip3541: true,
  },
  instructions: [[0x48, 'BASEFEE', 0, 1, 2]], // EIP-3198
})
