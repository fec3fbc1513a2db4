package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"encoding/json"
	"math/big"
	"math/rand"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/consensus"
	"github.com/ethereum/go-ethereum/consensus/beacon"
	"github.com/ethereum/go-ethereum/consensus/ethash"
	"github.com/ethereum/go-ethereum/consensus/misc"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/eth/gasestimator"
	"github.com/ethereum/go-ethereum/eth/tracers"
	_ "github.com/ethereum/go-ethereum/eth/tracers/native"
	"github.com/ethereum/go-ethereum/ethdb"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/triedb"
	"github.com/holiman/uint256"
)

var (
	prober   = common.HexToAddress("0x0000000000000000000000000000000000010656")
	reverter = common.HexToAddress("0x0000000000000000000000000000000000010657")
	writer   = common.HexToAddress("0x0000000000000000000000000000000000010658")
	passer   = params.OptimismL2ToL1MessagePasser
)

// Contracts: L1Block, which stores what the first deposit of a block sets; one that calls the address in its first word
// with the rest of its input and stores success, output and gas; one that reverts; one that writes a slot.
func addContracts(alloc types.GenesisAlloc) {
	put := func(address common.Address, code string) {
		alloc[address] = types.Account{Code: hexutil.MustDecode(code), Balance: common.Big0}
	}
	load := func(offset, shift, slot string) string { // SSTORE(slot, CALLDATALOAD(offset) >> shift)
		out := "60" + offset + "35"
		if shift != "" {
			out += "60" + shift + "1c"
		}
		return out + "60" + slot + "55"
	}
	later := load("04", "80", "03") + load("14", "80", "00") + load("24", "", "01") + load("44", "", "07") + load("64", "", "02") + load("84", "", "04")
	begin := "3661010414" // CALLDATASIZE == 260
	tail := "60af3611"    // CALLDATASIZE > 175
	head := len(begin)/2 + 3
	at := head + len(later)/2 + len(tail)/2 + 3 + 1
	isthmus := "5b60a43560a01c60b03560f01c60601b17600855" + "00"
	bedrock := "5b" + load("44", "", "01") + load("64", "", "02") + load("84", "", "03") + load("a4", "", "04") + load("c4", "", "05") + load("e4", "", "06") + load("04", "", "00") + "00"
	b := func(v int) string { return common.Bytes2Hex([]byte{byte(v)}) }
	put(types.L1BlockAddr, "0x"+begin+"60"+b(at+len(isthmus)/2)+"57"+later+tail+"60"+b(at)+"57"+"00"+isthmus+bedrock)
	put(prober, "0x6020360380602060003760006000826000346000355af13d600060003e3d600020015a5500")
	put(reverter, "0x600160015560003560005260206000fd")
	put(writer, "0x6020356000355500")
	put(passer, "0x365a5500")
	put(params.BeaconRootsAddress, hexutil.Encode(params.BeaconRootsCode))
	put(params.HistoryStorageAddress, hexutil.Encode(params.HistoryStorageCode))
}

// Deposits that fail, and transactions whose results depend on the fork.
func addTransactions(b *core.BlockGen, cfg *params.ChainConfig, keys []*ecdsa.PrivateKey, rng *rand.Rand, i int, time uint64, hash func() common.Hash) {
	alias := common.BytesToAddress(crypto.Keccak256([]byte{byte(i % 3), 2})[12:])
	deposit := func(to *common.Address, gas uint64, mint, value int64, data []byte) {
		tx := &types.DepositTx{SourceHash: hash(), From: alias, To: to, Value: big.NewInt(value), Gas: gas, Data: data}
		if mint > 0 {
			tx.Mint = big.NewInt(mint)
		}
		b.AddTx(types.NewTx(tx))
	}
	in := i % perFork
	word := func(v uint64) []byte { return common.LeftPadBytes(new(big.Int).SetUint64(v).Bytes(), 32) }
	switch in {
	case 1:
		deposit(&writer, 20_000, 1000, 0, nil) // less than the intrinsic gas
	case 2:
		deposit(&reverter, 100_000, 5000, 3, word(uint64(i)))
	case 3:
		deposit(&prober, 30_000, 0, 0, word(4)) // runs out of gas
	case 4:
		deposit(nil, 1_000_000, 700, 1, make([]byte, 50_000)) // initcode above the limit of Shanghai
	case 5:
		deposit(&writer, 60_000, 1, 0, append(word(1), word(0)...))
		deposit(&passer, 90_000, 0, 0, []byte("withdraw"))
	}
	send := func(key int, to *common.Address, gas uint64, value int64, data []byte, tip int64) {
		from := crypto.PubkeyToAddress(keys[key].PublicKey)
		fee := new(big.Int).Add(b.BaseFee(), big.NewInt(1e9))
		b.AddTx(types.MustSignNewTx(keys[key], types.LatestSigner(cfg), &types.DynamicFeeTx{ChainID: cfg.ChainID, Nonce: b.TxNonce(from), GasTipCap: big.NewInt(tip), GasFeeCap: fee, Gas: gas, To: to, Value: big.NewInt(value), Data: data}))
	}
	probe := func(address uint64, gas uint64, input []byte) { send(1, &prober, gas, 0, append(word(address), input...), 1e6) }
	switch in {
	case 1:
		probe(4, 200_000, []byte("identity"))
		send(0, &passer, 100_000, 0, word(uint64(i)), 1e8)
	case 2: // P256VERIFY
		priv, _ := ecdsa.GenerateKey(elliptic.P256(), rng)
		digest := crypto.Keccak256([]byte{byte(i)})
		r, s, _ := ecdsa.Sign(rng, priv, digest)
		input := append([]byte{}, digest...)
		for _, v := range []*big.Int{r, s, priv.X, priv.Y} {
			input = append(input, common.LeftPadBytes(v.Bytes(), 32)...)
		}
		probe(0x100, 300_000, input)
		input[3] ^= 1
		probe(0x100, 300_000, input)
	case 3: // refunds: sets and clears a slot
		send(2, &writer, 100_000, 0, append(word(uint64(i)), word(9)...), 1e9)
		send(2, &writer, 100_000, 0, append(word(uint64(i)), word(0)...), 1e9)
		send(2, &reverter, 100_000, 0, word(77), 1e9)
	case 4: // creations, and data whose minimum price counts (EIP-7623)
		send(3, nil, 300_000, 2, hexutil.MustDecode("0x6001600c60003960016000f300"), 5)
		data := make([]byte, 3000)
		rng.Read(data)
		to := common.BytesToAddress(data[:20])
		send(3, &to, 300_000, 1, data, 5)
		send(3, &prober, 23_000, 0, nil, 5) // runs out of gas
	case 5: // BN254 pairing of points at infinity, beside the limits of Granite and Jovian
		probe(8, 24_000_000, make([]byte, 192*pick(cfg.IsFjord(time) && !cfg.IsHolocene(time), 587, 427)))
	case 6:
		probe(8, 24_000_000, make([]byte, 192*pick(cfg.IsFjord(time) && !cfg.IsHolocene(time), 586, 428)))
	case 7: // BLS12-381 pairing, beside the limits of Isthmus and Jovian
		if cfg.IsIsthmus(time) {
			probe(15, 27_000_000, make([]byte, 384*pick(cfg.IsJovian(time), 409, 613)))
		}
		probe(0x10, 300_000, make([]byte, 64)) // MAP_FP_TO_G1
	case 8: // its multiplications
		if cfg.IsIsthmus(time) {
			probe(12, 26_000_000, make([]byte, 160*pick(cfg.IsJovian(time), 1807, 3212)))
		}
	case 9:
		if cfg.IsIsthmus(time) {
			probe(14, 27_000_000, make([]byte, 288*pick(cfg.IsJovian(time), 969, 1697)))
			from := crypto.PubkeyToAddress(keys[3].PublicKey)
			auth, _ := types.SignSetCode(keys[3], types.SetCodeAuthorization{ChainID: *uint256.NewInt(34034), Address: writer, Nonce: b.TxNonce(from)})
			sender := crypto.PubkeyToAddress(keys[0].PublicKey)
			b.AddTx(types.MustSignNewTx(keys[0], types.LatestSigner(cfg), &types.SetCodeTx{ChainID: uint256.NewInt(34034), Nonce: b.TxNonce(sender), GasTipCap: uint256.NewInt(1e6), GasFeeCap: uint256.MustFromBig(new(big.Int).Add(b.BaseFee(), big.NewInt(1e6))), Gas: 300_000, To: from, Value: uint256.NewInt(0), Data: append(word(3), word(uint64(i))...), AuthList: []types.SetCodeAuthorization{auth}}))
		}
	case 10: // the code that Canyon sets, the beacon root and the hash of the parent
		deployer := common.HexToAddress("0x13b0D85CcB8bf860b6b79AF3029fCA081AE9beF2")
		probe(new(big.Int).SetBytes(deployer[12:]).Uint64(), 300_000, nil)
		send(1, &params.BeaconRootsAddress, 100_000, 0, word(time), 1)
		send(1, &params.HistoryStorageAddress, 100_000, 0, word(b.Number().Uint64()-1), 1)
	}
}

func pick(first bool, yes, no int) int {
	if first {
		return yes
	}
	return no
}

// Executes the blocks once more as a node does, which checks everything that the generator may leave out.
func insertAll(genesis *core.Genesis, blocks []*types.Block) {
	options := core.DefaultConfig().WithArchive(true).WithStateScheme(rawdb.HashScheme)
	chain, err := core.NewBlockChain(rawdb.NewMemoryDatabase(), genesis, beacon.New(ethash.NewFaker()), options)
	if err != nil {
		panic(err)
	}
	defer chain.Stop()
	if _, err := chain.InsertChain(blocks); err != nil {
		panic(err)
	}
}

type headers struct {
	cfg    *params.ChainConfig
	blocks []*types.Block
}

func (h headers) Config() *params.ChainConfig { return h.cfg }
func (h headers) Engine() consensus.Engine    { return beacon.New(ethash.NewFaker()) }
func (h headers) CurrentHeader() *types.Header { return h.blocks[len(h.blocks)-1].Header() }
func (h headers) GetHeader(_ common.Hash, number uint64) *types.Header {
	return h.blocks[number].Header()
}
func (h headers) GetHeaderByNumber(number uint64) *types.Header { return h.blocks[number].Header() }
func (h headers) GetHeaderByHash(hash common.Hash) *types.Header {
	for _, block := range h.blocks {
		if block.Hash() == hash {
			return block.Header()
		}
	}
	return nil
}

// A block with the results of debug_traceBlockByNumber (callTracer), and of eth_call and eth_estimateGas after it.
func executedBlock(db ethdb.Database, cfg *params.ChainConfig, genesis *core.Genesis, blocks []*types.Block, block *types.Block, raw []byte) any {
	chain := headers{cfg, blocks}
	states := state.NewDatabase(triedb.NewDatabase(db, triedb.HashDefaults), nil)
	at := func(root common.Hash) *state.StateDB {
		out, err := state.New(root, states)
		if err != nil {
			panic(err)
		}
		return out
	}
	header := block.Header()
	traces := []json.RawMessage{}
	if block.NumberU64() > 0 {
		db := at(blocks[block.NumberU64()-1].Root())
		evm := vm.NewEVM(core.NewEVMBlockContext(header, chain, nil, cfg, db), db, cfg, vm.Config{})
		misc.EnsureCreate2Deployer(cfg, header.Time, db)
		if header.ParentBeaconRoot != nil {
			core.ProcessBeaconBlockRoot(*header.ParentBeaconRoot, evm)
		}
		if cfg.IsPrague(header.Number, header.Time) {
			core.ProcessParentBlockHash(header.ParentHash, evm)
		}
		pool := core.NewGasPool(block.GasLimit())
		signer := types.MakeSigner(cfg, header.Number, header.Time)
		context := core.NewEVMBlockContext(header, chain, nil, cfg, db)
		for i, tx := range block.Transactions() {
			tracer, err := tracers.DefaultDirectory.New("callTracer", &tracers.Context{BlockHash: block.Hash(), BlockNumber: header.Number, TxIndex: i, TxHash: tx.Hash()}, json.RawMessage(`{"withLog":true}`), cfg)
			if err != nil {
				panic(err)
			}
			msg, err := core.TransactionToMessage(tx, signer, header.BaseFee)
			if err != nil {
				panic(err)
			}
			db.SetTxContext(tx.Hash(), i)
			traced := vm.NewEVM(context, state.NewHookedState(db, tracer.Hooks), cfg, vm.Config{Tracer: tracer.Hooks})
			if _, err := core.ApplyTransactionWithEVM(msg, pool, db, header.Number, block.Hash(), header.Time, tx, traced); err != nil {
				panic(err)
			}
			result, err := tracer.GetResult()
			if err != nil {
				panic(err)
			}
			traces = append(traces, shortened(result))
		}
	}
	calls := []any{}
	for _, to := range []common.Address{prober, writer, types.L1BlockAddr} {
		data := append(common.LeftPadBytes([]byte{1, 0}, 32), make([]byte, 160)...)
		from := common.BytesToAddress(crypto.Keccak256([]byte{0, 34}))
		message := func() *core.Message {
			return &core.Message{From: from, To: &to, Value: common.Big0, GasLimit: 5_000_000, GasPrice: new(big.Int), GasFeeCap: new(big.Int), GasTipCap: new(big.Int), Data: data, SkipNonceChecks: true, SkipTransactionChecks: true}
		}
		estimate, _, err := gasestimator.Estimate(context.Background(), message(), &gasestimator.Options{Config: cfg, Chain: chain, Header: header, State: at(block.Root()), ErrorRatio: 0.015}, 50_000_000)
		if err != nil {
			panic(err)
		}
		calls = append(calls, map[string]any{"request": map[string]any{"from": from, "to": to, "gas": hexutil.Uint64(5_000_000), "data": hexutil.Bytes(data)}, "estimate": hexutil.Uint64(estimate)})
	}
	balances := map[common.Address]*hexutil.Big{}
	for _, address := range []common.Address{params.OptimismBaseFeeRecipient, params.OptimismL1FeeRecipient, params.OptimismOperatorFeeRecipient, header.Coinbase} {
		balances[address] = (*hexutil.Big)(at(block.Root()).GetBalance(address).ToBig())
	}
	return map[string]any{"raw": hexutil.Bytes(raw), "hash": block.Hash(), "traces": traces, "calls": calls, "balances": balances}
}

// Long inputs, which the transaction has as well, are left out.
func shortened(result json.RawMessage) json.RawMessage {
	var frame map[string]any
	if err := json.Unmarshal(result, &frame); err != nil {
		panic(err)
	}
	var walk func(frame map[string]any)
	walk = func(frame map[string]any) {
		if input, ok := frame["input"].(string); ok && len(input) > 1000 {
			frame["input"] = input[:1000]
		}
		if calls, ok := frame["calls"].([]any); ok {
			for _, call := range calls {
				walk(call.(map[string]any))
			}
		}
	}
	walk(frame)
	out, _ := json.Marshal(frame)
	return out
}
