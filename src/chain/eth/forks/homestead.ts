import { defineFork } from './fork.js'

export const homestead = defineFork('homestead', {
  keys: ['homesteadBlock'],
  parameters: { difficulty: 'homestead', eip2: true, creationGas: 32_000 },
  instructions: [[0xf4, 'DELEGATECALL', 6, 1, 40]], // EIP-7
})
