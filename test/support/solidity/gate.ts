/* A contract as solc 0.8.37 compiles it (London, optimizer with 200 runs):
 *
 * contract Gate {
 *   event Opened(address indexed by); error Closed(uint8 code);
 *   function open() external { emit Opened(msg.sender); }
 *   function fail(uint8 code) external pure { revert Closed(code); }
 * } */

/** Its metadata; the IPFS hash of this text is in the code. */
export const GATE_METADATA =
  '{"compiler":{"version":"0.8.37+commit.f401782d"},"language":"Solidity","output":{"abi":[{"inputs":[{' +
  '"internalType":"uint8","name":"code","type":"uint8"}],"name":"Closed","type":"error"},{"anonymous":f' +
  'alse,"inputs":[{"indexed":true,"internalType":"address","name":"by","type":"address"}],"name":"Opene' +
  'd","type":"event"},{"inputs":[{"internalType":"uint8","name":"code","type":"uint8"}],"name":"fail","' +
  'outputs":[],"stateMutability":"pure","type":"function"},{"inputs":[],"name":"open","outputs":[],"sta' +
  'teMutability":"nonpayable","type":"function"}],"devdoc":{"kind":"dev","methods":{},"version":1},"use' +
  'rdoc":{"kind":"user","methods":{},"version":1}},"settings":{"compilationTarget":{"Gate.sol":"Gate"},' +
  '"evmVersion":"london","libraries":{},"metadata":{"bytecodeHash":"ipfs"},"optimizer":{"enabled":true,' +
  '"runs":200},"remappings":[]},"sources":{"Gate.sol":{"keccak256":"0x08aa4cd9e6c0a2c052ae1216d990b4507' +
  'dd877bdb33bd2d2ff1232c0b0acffaf","license":"MIT","urls":["bzz-raw://749ad960b3e2c0e2144aa1236f10ab89' +
  '5dd8ffb48147c589b2d4999a0f21ef18","dweb:/ipfs/QmWhETHneVU5BX7Kbsyd8TxNriixpn5Q8pToPoG9Jcg3Eo"]}},"ve' +
  'rsion":1}'

/** Its runtime code as hex. */
export const GATE_CODE =
  '0x' +
  '6080604052348015600f57600080fd5b506004361060325760003560e01c8063360cf898146037578063fcfff16f14604857' +
  '5b600080fd5b60466042366004609d565b604e565b005b60466070565b604051633811271160e21b815260ff821660048201' +
  '5260240160405180910390fd5b60405133907f0c05c795d374e6591ce49eb802df9a84a8b53459fad4fa03ac3085ca30afb7' +
  '5e90600090a2565b60006020828403121560ae57600080fd5b813560ff8116811460be57600080fd5b939250505056fea264' +
  '69706673582212202ba1a5fc33bd12e5ad6566382e7a0a13b0735b059bcd7299903628185d5dd9b964736f6c634300082500' +
  '33'
