import { defineFork } from './fork.js'

export const spuriousDragon = defineFork('spuriousDragon', {
  keys: ['eip155Block'],
  parameters: {
    eip155: true,
    eip161: true,
    expByteGas: 50, // EIP-160
    maxCodeSize: 24_576, // EIP-170
  },
})
