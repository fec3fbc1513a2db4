import { defineFork } from './fork.js'

export const petersburg = defineFork('petersburg', {
  keys: ['petersburgBlock', 'constantinopleFixBlock'],
  parameters: {
    storage: { net: false }, // EIP-1716 withdraws EIP-1283
  },
})
