import { defineFork } from './fork.js'

export const tangerineWhistle = defineFork('tangerineWhistle', {
  keys: ['eip150Block'],
  parameters: { eip150: true, destructNewAccountGas: 25_000 }, // EIP-150
  instructions: [
    [0x31, 'BALANCE', 1, 1, 400],
    [0x3b, 'EXTCODESIZE', 1, 1, 700],
    [0x3c, 'EXTCODECOPY', 4, 0, 700],
    [0x54, 'SLOAD', 1, 1, 200],
    [0xf1, 'CALL', 7, 1, 700],
    [0xf2, 'CALLCODE', 7, 1, 700],
    [0xf4, 'DELEGATECALL', 6, 1, 700],
    [0xff, 'SELFDESTRUCT', 1, 0, 5000],
  ],
})
