import { type AbiItem, parseSignature } from './abiItems.js'

/** Interfaces that are decoded without an added ABI, by name. Parameter names are those of the standards and of the
 *  contracts' sources. */
const INTERFACES: { readonly [name: string]: string } = {
  solidity: `
    error Error(string message)
    error Panic(uint256 code)`,
  erc20: `
    event Transfer(address indexed from, address indexed to, uint256 value)
    event Approval(address indexed owner, address indexed spender, uint256 value)
    function transfer(address to, uint256 value)
    function transferFrom(address from, address to, uint256 value)
    function approve(address spender, uint256 value)
    function balanceOf(address account) view returns (uint256)
    function allowance(address owner, address spender) view returns (uint256)
    function totalSupply() view returns (uint256)
    function name() view returns (string)
    function symbol() view returns (string)
    function decimals() view returns (uint8)
    function increaseAllowance(address spender, uint256 addedValue)
    function decreaseAllowance(address spender, uint256 subtractedValue)
    function mint(address to, uint256 amount)
    function burn(uint256 amount)
    function permit(address owner, address spender, uint256 value, uint256 deadline, uint8 v, bytes32 r, bytes32 s)
    function nonces(address owner) view returns (uint256)`,
  erc721: `
    event Transfer(address indexed from, address indexed to, uint256 indexed tokenId)
    event Approval(address indexed owner, address indexed approved, uint256 indexed tokenId)
    event ApprovalForAll(address indexed owner, address indexed operator, bool approved)
    function safeTransferFrom(address from, address to, uint256 tokenId)
    function safeTransferFrom(address from, address to, uint256 tokenId, bytes data)
    function setApprovalForAll(address operator, bool approved)
    function getApproved(uint256 tokenId) view returns (address)
    function isApprovedForAll(address owner, address operator) view returns (bool)
    function ownerOf(uint256 tokenId) view returns (address)
    function tokenURI(uint256 tokenId) view returns (string)
    function supportsInterface(bytes4 interfaceId) view returns (bool)`,
  erc1155: `
    event TransferSingle(address indexed operator, address indexed from, address indexed to, uint256 id, uint256 value)
    event TransferBatch(address indexed operator, address indexed from, address indexed to, uint256[] ids, uint256[] values)
    event URI(string value, uint256 indexed id)
    function safeTransferFrom(address from, address to, uint256 id, uint256 value, bytes data)
    function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] values, bytes data)
    function balanceOf(address account, uint256 id) view returns (uint256)
    function balanceOfBatch(address[] accounts, uint256[] ids) view returns (uint256[])
    function uri(uint256 id) view returns (string)`,
  erc4626: `
    event Deposit(address indexed sender, address indexed owner, uint256 assets, uint256 shares)
    event Withdraw(address indexed sender, address indexed receiver, address indexed owner, uint256 assets, uint256 shares)
    function deposit(uint256 assets, address receiver)
    function mint(uint256 shares, address receiver)
    function withdraw(uint256 assets, address receiver, address owner)
    function redeem(uint256 shares, address receiver, address owner)
    function asset() view returns (address)
    function totalAssets() view returns (uint256)
    function convertToShares(uint256 assets) view returns (uint256 shares)
    function convertToAssets(uint256 shares) view returns (uint256 assets)`,
  erc6093: `
    error ERC20InsufficientBalance(address sender, uint256 balance, uint256 needed)
    error ERC20InvalidSender(address sender)
    error ERC20InvalidReceiver(address receiver)
    error ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)
    error ERC20InvalidApprover(address approver)
    error ERC20InvalidSpender(address spender)
    error ERC721InvalidOwner(address owner)
    error ERC721NonexistentToken(uint256 tokenId)
    error ERC721IncorrectOwner(address sender, uint256 tokenId, address owner)
    error ERC721InvalidSender(address sender)
    error ERC721InvalidReceiver(address receiver)
    error ERC721InsufficientApproval(address operator, uint256 tokenId)
    error ERC721InvalidApprover(address approver)
    error ERC721InvalidOperator(address operator)
    error ERC1155InsufficientBalance(address sender, uint256 balance, uint256 needed, uint256 tokenId)
    error ERC1155InvalidSender(address sender)
    error ERC1155InvalidReceiver(address receiver)
    error ERC1155MissingApprovalForAll(address operator, address owner)
    error ERC1155InvalidApprover(address approver)
    error ERC1155InvalidOperator(address operator)
    error ERC1155InvalidArrayLength(uint256 idsLength, uint256 valuesLength)`,
  weth: `
    event Deposit(address indexed dst, uint256 wad)
    event Withdrawal(address indexed src, uint256 wad)
    function deposit() payable
    function withdraw(uint256 wad)`,
  uniswap_v2_factory: `
    event PairCreated(address indexed token0, address indexed token1, address pair, uint256 allPairsLength)
    function createPair(address tokenA, address tokenB)
    function getPair(address tokenA, address tokenB) view returns (address)`,
  uniswap_v2_pair: `
    event Mint(address indexed sender, uint256 amount0, uint256 amount1)
    event Burn(address indexed sender, uint256 amount0, uint256 amount1, address indexed to)
    event Swap(address indexed sender, uint256 amount0In, uint256 amount1In, uint256 amount0Out, uint256 amount1Out, address indexed to)
    event Sync(uint112 reserve0, uint112 reserve1)
    function swap(uint256 amount0Out, uint256 amount1Out, address to, bytes data)
    function mint(address to)
    function burn(address to)
    function skim(address to)
    function sync()
    function getReserves() view returns (uint112 reserve0, uint112 reserve1, uint32 blockTimestampLast)`,
  uniswap_v2_router: `
    function addLiquidity(address tokenA, address tokenB, uint256 amountADesired, uint256 amountBDesired, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline)
    function addLiquidityETH(address token, uint256 amountTokenDesired, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline) payable
    function removeLiquidity(address tokenA, address tokenB, uint256 liquidity, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline)
    function removeLiquidityETH(address token, uint256 liquidity, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline)
    function removeLiquidityWithPermit(address tokenA, address tokenB, uint256 liquidity, uint256 amountAMin, uint256 amountBMin, address to, uint256 deadline, bool approveMax, uint8 v, bytes32 r, bytes32 s)
    function removeLiquidityETHWithPermit(address token, uint256 liquidity, uint256 amountTokenMin, uint256 amountETHMin, address to, uint256 deadline, bool approveMax, uint8 v, bytes32 r, bytes32 s)
    function swapExactTokensForTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)
    function swapTokensForExactTokens(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)
    function swapExactETHForTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline) payable
    function swapTokensForExactETH(uint256 amountOut, uint256 amountInMax, address[] path, address to, uint256 deadline)
    function swapExactTokensForETH(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)
    function swapETHForExactTokens(uint256 amountOut, address[] path, address to, uint256 deadline) payable
    function swapExactTokensForTokensSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)
    function swapExactETHForTokensSupportingFeeOnTransferTokens(uint256 amountOutMin, address[] path, address to, uint256 deadline) payable
    function swapExactTokensForETHSupportingFeeOnTransferTokens(uint256 amountIn, uint256 amountOutMin, address[] path, address to, uint256 deadline)`,
  uniswap_v3_factory: `
    event PoolCreated(address indexed token0, address indexed token1, uint24 indexed fee, int24 tickSpacing, address pool)
    event OwnerChanged(address indexed oldOwner, address indexed newOwner)
    event FeeAmountEnabled(uint24 indexed fee, int24 indexed tickSpacing)
    function createPool(address tokenA, address tokenB, uint24 fee)
    function getPool(address tokenA, address tokenB, uint24 fee) view returns (address)`,
  uniswap_v3_pool: `
    event Initialize(uint160 sqrtPriceX96, int24 tick)
    event Mint(address sender, address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)
    event Collect(address indexed owner, address recipient, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount0, uint128 amount1)
    event Burn(address indexed owner, int24 indexed tickLower, int24 indexed tickUpper, uint128 amount, uint256 amount0, uint256 amount1)
    event Swap(address indexed sender, address indexed recipient, int256 amount0, int256 amount1, uint160 sqrtPriceX96, uint128 liquidity, int24 tick)
    event Flash(address indexed sender, address indexed recipient, uint256 amount0, uint256 amount1, uint256 paid0, uint256 paid1)
    event IncreaseObservationCardinalityNext(uint16 observationCardinalityNextOld, uint16 observationCardinalityNextNew)
    event SetFeeProtocol(uint8 feeProtocol0Old, uint8 feeProtocol1Old, uint8 feeProtocol0New, uint8 feeProtocol1New)
    event CollectProtocol(address indexed sender, address indexed recipient, uint128 amount0, uint128 amount1)
    function initialize(uint160 sqrtPriceX96)
    function swap(address recipient, bool zeroForOne, int256 amountSpecified, uint160 sqrtPriceLimitX96, bytes data)
    function mint(address recipient, int24 tickLower, int24 tickUpper, uint128 amount, bytes data)
    function burn(int24 tickLower, int24 tickUpper, uint128 amount)
    function collect(address recipient, int24 tickLower, int24 tickUpper, uint128 amount0Requested, uint128 amount1Requested)
    function flash(address recipient, uint256 amount0, uint256 amount1, bytes data)
    function slot0() view returns (uint160 sqrtPriceX96, int24 tick, uint16 observationIndex, uint16 observationCardinality, uint16 observationCardinalityNext, uint8 feeProtocol, bool unlocked)`,
  uniswap_v3_positions: `
    event IncreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)
    event DecreaseLiquidity(uint256 indexed tokenId, uint128 liquidity, uint256 amount0, uint256 amount1)
    event Collect(uint256 indexed tokenId, address recipient, uint256 amount0, uint256 amount1)
    function mint((address token0, address token1, uint24 fee, int24 tickLower, int24 tickUpper, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, address recipient, uint256 deadline) params) payable
    function increaseLiquidity((uint256 tokenId, uint256 amount0Desired, uint256 amount1Desired, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable
    function decreaseLiquidity((uint256 tokenId, uint128 liquidity, uint256 amount0Min, uint256 amount1Min, uint256 deadline) params) payable
    function collect((uint256 tokenId, address recipient, uint128 amount0Max, uint128 amount1Max) params) payable`,
  uniswap_v3_router: `
    function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable
    function exactInput((bytes path, address recipient, uint256 deadline, uint256 amountIn, uint256 amountOutMinimum) params) payable
    function exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 deadline, uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) params) payable
    function exactOutput((bytes path, address recipient, uint256 deadline, uint256 amountOut, uint256 amountInMaximum) params) payable
    function exactInputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountIn, uint256 amountOutMinimum, uint160 sqrtPriceLimitX96) params) payable
    function exactInput((bytes path, address recipient, uint256 amountIn, uint256 amountOutMinimum) params) payable
    function exactOutputSingle((address tokenIn, address tokenOut, uint24 fee, address recipient, uint256 amountOut, uint256 amountInMaximum, uint160 sqrtPriceLimitX96) params) payable
    function exactOutput((bytes path, address recipient, uint256 amountOut, uint256 amountInMaximum) params) payable
    function multicall(bytes[] data) payable
    function multicall(uint256 deadline, bytes[] data) payable
    function unwrapWETH9(uint256 amountMinimum, address recipient) payable
    function refundETH() payable
    function sweepToken(address token, uint256 amountMinimum, address recipient) payable
    function execute(bytes commands, bytes[] inputs, uint256 deadline) payable
    function execute(bytes commands, bytes[] inputs) payable`,
  ens_registry: `
    event NewOwner(bytes32 indexed node, bytes32 indexed label, address owner)
    event Transfer(bytes32 indexed node, address owner)
    event NewResolver(bytes32 indexed node, address resolver)
    event NewTTL(bytes32 indexed node, uint64 ttl)
    function setRecord(bytes32 node, address owner, address resolver, uint64 ttl)
    function setSubnodeRecord(bytes32 node, bytes32 label, address owner, address resolver, uint64 ttl)
    function setSubnodeOwner(bytes32 node, bytes32 label, address owner)
    function setResolver(bytes32 node, address resolver)
    function setOwner(bytes32 node, address owner)
    function setTTL(bytes32 node, uint64 ttl)
    function owner(bytes32 node) view returns (address)
    function resolver(bytes32 node) view returns (address)`,
  ens_resolver: `
    event AddrChanged(bytes32 indexed node, address a)
    event AddressChanged(bytes32 indexed node, uint256 coinType, bytes newAddress)
    event NameChanged(bytes32 indexed node, string name)
    event ContenthashChanged(bytes32 indexed node, bytes hash)
    event TextChanged(bytes32 indexed node, string indexed indexedKey, string key)
    event TextChanged(bytes32 indexed node, string indexed indexedKey, string key, string value)
    event PubkeyChanged(bytes32 indexed node, bytes32 x, bytes32 y)
    event ABIChanged(bytes32 indexed node, uint256 indexed contentType)
    event InterfaceChanged(bytes32 indexed node, bytes4 indexed interfaceID, address implementer)
    event VersionChanged(bytes32 indexed node, uint64 newVersion)
    function setAddr(bytes32 node, address a)
    function setAddr(bytes32 node, uint256 coinType, bytes a)
    function setName(bytes32 node, string newName)
    function setText(bytes32 node, string key, string value)
    function setContenthash(bytes32 node, bytes hash)
    function addr(bytes32 node) view returns (address)
    function text(bytes32 node, string key) view returns (string)`,
  safe: `
    event SafeSetup(address indexed initiator, address[] owners, uint256 threshold, address initializer, address fallbackHandler)
    event AddedOwner(address indexed owner)
    event AddedOwner(address owner)
    event RemovedOwner(address indexed owner)
    event RemovedOwner(address owner)
    event ChangedThreshold(uint256 threshold)
    event EnabledModule(address indexed module)
    event EnabledModule(address module)
    event DisabledModule(address indexed module)
    event DisabledModule(address module)
    event ApproveHash(bytes32 indexed approvedHash, address indexed owner)
    event SignMsg(bytes32 indexed msgHash)
    event ExecutionSuccess(bytes32 indexed txHash, uint256 payment)
    event ExecutionSuccess(bytes32 txHash, uint256 payment)
    event ExecutionFailure(bytes32 indexed txHash, uint256 payment)
    event ExecutionFailure(bytes32 txHash, uint256 payment)
    event ExecutionFromModuleSuccess(address indexed module)
    event ExecutionFromModuleFailure(address indexed module)
    event SafeReceived(address indexed sender, uint256 value)
    event ChangedFallbackHandler(address indexed handler)
    event ChangedFallbackHandler(address handler)
    event ChangedGuard(address indexed guard)
    event ChangedGuard(address guard)
    event ProxyCreation(address indexed proxy, address singleton)
    event ProxyCreation(address proxy, address singleton)
    function setup(address[] _owners, uint256 _threshold, address to, bytes data, address fallbackHandler, address paymentToken, uint256 payment, address paymentReceiver)
    function execTransaction(address to, uint256 value, bytes data, uint8 operation, uint256 safeTxGas, uint256 baseGas, uint256 gasPrice, address gasToken, address refundReceiver, bytes signatures) payable
    function execTransactionFromModule(address to, uint256 value, bytes data, uint8 operation)
    function addOwnerWithThreshold(address owner, uint256 _threshold)
    function removeOwner(address prevOwner, address owner, uint256 _threshold)
    function swapOwner(address prevOwner, address oldOwner, address newOwner)
    function changeThreshold(uint256 _threshold)
    function enableModule(address module)
    function disableModule(address prevModule, address module)
    function setFallbackHandler(address handler)
    function setGuard(address guard)
    function approveHash(bytes32 hashToApprove)
    function multiSend(bytes transactions) payable
    function getOwners() view returns (address[])
    function getThreshold() view returns (uint256)
    function isOwner(address owner) view returns (bool)
    function nonce() view returns (uint256)
    function createProxyWithNonce(address _singleton, bytes initializer, uint256 saltNonce)`,
}

/** A built-in interface. */
interface WellKnownInterface {
  readonly name: string
  readonly items: readonly AbiItem[]
}

/** Parses the built-in interfaces, which takes 2 ms. The order decides between events with equal topic0, number of
 *  topics and encoding. */
export function wellKnownInterfaces(): WellKnownInterface[] {
  return Object.entries(INTERFACES).map(([name, lines]) => {
    return {
      name,
      items: lines
        .trim()
        .split('\n')
        .map((line) => parseSignature(line.trim())),
    }
  })
}
