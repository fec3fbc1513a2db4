import { EMPTY_TRIE_ROOT } from '../trie.js'
import { defineFork } from './fork.js'

export const shanghai = defineFork('shanghai', {
  keys: ['shanghaiTime'],
  headerFields: [
    { name: 'withdrawalsRoot', label: 'withdrawals root', type: 'fixed', bytes: 32, empty: EMPTY_TRIE_ROOT },
  ], // EIP-4895
  parameters: {
    eip4895: true,
    warmCoinbase: true,
    maxInitCodeSize: 49_152, // EIP-3860
    initCodeWordGas: 2,
  },
  instructions: [[0x5f, 'PUSH0', 0, 1, 2]], // EIP-3855
})
