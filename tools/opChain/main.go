// Writes a chain of the OP stack through all forks, executed by op-geth, as lines of JSON.
//
// Copy this folder to cmd/opchain of op-geth, and core/blockGen.go to its core; then
//
//	go run ./cmd/opchain | brotli -q 11 > chain.ndjson.br
//	go run ./cmd/opchain -executed | brotli -q 11 > executed.ndjson.br
package main

import (
	"context"
	"crypto/ecdsa"
	"encoding/binary"
	"encoding/json"
	"flag"
	"math/big"
	"math/rand"
	"os"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/consensus/beacon"
	"github.com/ethereum/go-ethereum/consensus/ethash"
	"github.com/ethereum/go-ethereum/consensus/misc/eip1559"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/internal/ethapi"
	"github.com/ethereum/go-ethereum/params"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/holiman/uint256"
)

// Blocks of each fork; fewer with -executed.
var perFork = 24

type getter map[common.Hash]types.Receipts

func (g getter) GetReceipts(_ context.Context, hash common.Hash) (types.Receipts, error) { return g[hash], nil }

func at(fork int) *uint64 { t := uint64(1000 + 10*(perFork*fork+1)); return &t }

func main() {
	executed := flag.Bool("executed", false, "with contracts that fees and precompiles depend on, and with traces, calls and estimates")
	flag.Parse()
	if *executed {
		perFork = 12
	}
	rng := rand.New(rand.NewSource(34))
	cfg := &params.ChainConfig{
		ChainID: big.NewInt(34034), HomesteadBlock: common.Big0, EIP150Block: common.Big0, EIP155Block: common.Big0,
		EIP158Block: common.Big0, ByzantiumBlock: common.Big0, ConstantinopleBlock: common.Big0, PetersburgBlock: common.Big0,
		IstanbulBlock: common.Big0, MuirGlacierBlock: common.Big0, BerlinBlock: common.Big0, LondonBlock: common.Big0,
		ArrowGlacierBlock: common.Big0, GrayGlacierBlock: common.Big0, MergeNetsplitBlock: common.Big0,
		BedrockBlock: common.Big0, TerminalTotalDifficulty: common.Big0,
		RegolithTime: at(1), CanyonTime: at(2), ShanghaiTime: at(2), EcotoneTime: at(3), CancunTime: at(3), FjordTime: at(4),
		GraniteTime: at(5), HoloceneTime: at(6), IsthmusTime: at(7), PragueTime: at(7), JovianTime: at(8), KarstTime: at(9),
	}
	canyonDenominator := uint64(250)
	cfg.Optimism = &params.OptimismConfig{EIP1559Elasticity: 6, EIP1559Denominator: 50, EIP1559DenominatorCanyon: &canyonDenominator}
	keys := make([]*ecdsa.PrivateKey, 4)
	alloc := types.GenesisAlloc{}
	for i := range keys {
		keys[i], _ = crypto.ToECDSA(crypto.Keccak256([]byte{byte(i), 34}))
		alloc[crypto.PubkeyToAddress(keys[i].PublicKey)] = types.Account{Balance: new(big.Int).Mul(big.NewInt(1e6), big.NewInt(1e18))}
	}
	logger := common.HexToAddress("0x0000000000000000000000000000000000010655")
	code := append(hexutil.MustDecode("0x3660006000373373"), crypto.Keccak256([]byte("x"))[:0]...)
	code = append(hexutil.MustDecode("0x366000600037337f"), crypto.Keccak256([]byte("Noted(address,bytes)"))...)
	code = append(code, hexutil.MustDecode("0x366000a200")...)
	alloc[logger] = types.Account{Code: code, Balance: common.Big0}
	if *executed {
		addContracts(alloc)
	}
	genesis := &core.Genesis{Config: cfg, Timestamp: 1000, GasLimit: 30_000_000, BaseFee: big.NewInt(1e9), Difficulty: common.Big0, Alloc: alloc,
		Coinbase: common.HexToAddress("0x4200000000000000000000000000000000000011")}
	attributes := common.HexToAddress("0xdeaddeaddeaddeaddeaddeaddeaddeaddead0001")
	var seq uint64
	n := perFork*10 - 1
	db, blocks, receipts := core.GenerateChainWithGenesis(genesis, beacon.New(ethash.NewFaker()), n, func(i int, b *core.BlockGen) {
		time := b.Timestamp()
		if *executed {
			b.EnsureCreate2Deployer()
		}
		first := i%perFork == 0 && i > 0 // of a fork: its L1 attributes have the form before
		b.SetCoinbase(common.HexToAddress("0x4200000000000000000000000000000000000011"))
		prev := time
		if first {
			prev = time - 10
		}
		minFee := uint64(0)
		if i%perFork > perFork/2 {
			minFee = 2_000_000_000
		}
		if cfg.IsHolocene(time) {
			b.SetExtra(eip1559.EncodeOptimismExtraData(cfg, time, 250-uint64(i%3)*50, 6-uint64(i%2), &minFee))
		}
		if *executed && cfg.IsEcotone(time) {
			b.SetParentBeaconRoot(common.BytesToHash(crypto.Keccak256([]byte{byte(i), byte(i >> 8)})))
		}
		seq++
		word := func(v *big.Int) []byte { return common.LeftPadBytes(v.Bytes(), 32) }
		l1Fee := big.NewInt(int64(7e9 + rng.Intn(1e9)))
		blobFee := big.NewInt(int64(1 + rng.Intn(1e9)))
		var data []byte
		u := func(v uint64, bytes int) []byte { x := make([]byte, 8); binary.BigEndian.PutUint64(x, v); return x[8-bytes:] }
		if !cfg.IsEcotone(prev) {
			data = append(data, types.BedrockL1AttributesSelector...)
			for _, v := range []*big.Int{big.NewInt(int64(9000 + i)), big.NewInt(int64(time)), l1Fee, big.NewInt(77), big.NewInt(int64(seq)), big.NewInt(88), big.NewInt(188), big.NewInt(684000)} {
				data = append(data, word(v)...)
			}
		} else {
			sel := types.EcotoneL1AttributesSelector
			if cfg.IsIsthmus(prev) {
				sel = types.IsthmusL1AttributesSelector
			}
			if cfg.IsJovian(prev) {
				sel = types.JovianL1AttributesSelector
			}
			data = append(data, sel...)
			data = append(data, u(5227, 4)...)
			data = append(data, u(1014213, 4)...)
			data = append(data, u(seq, 8)...)
			data = append(data, u(time, 8)...)
			data = append(data, u(uint64(9000+i), 8)...)
			data = append(data, word(l1Fee)...)
			data = append(data, word(blobFee)...)
			data = append(data, word(big.NewInt(77))...)
			data = append(data, word(big.NewInt(88))...)
			if cfg.IsIsthmus(prev) {
				op := uint64(0)
				if i%4 > 0 {
					op = 1500
				}
				data = append(data, u(op, 4)...)
				data = append(data, u(op*1000, 8)...)
			}
			if cfg.IsJovian(prev) {
				data = append(data, u(400, 2)...)
			}
		}
		gas := uint64(1_000_000)
		if !cfg.IsRegolith(time) {
			gas = 150_000_000
		}
		var src common.Hash
		hash := func() common.Hash { rng.Read(src[:]); return src }
		to := types.L1BlockAddr
		b.AddTx(types.NewTx(&types.DepositTx{SourceHash: hash(), From: attributes, To: &to, Value: common.Big0, Gas: gas, IsSystemTransaction: !cfg.IsRegolith(time), Data: data}))
		if i%3 == 1 { // a deposit of a user: minted, with a log; sometimes it fails, sometimes it creates a contract
			from := common.BytesToAddress(crypto.Keccak256([]byte{byte(i % 5), 1})[12:])
			value := big.NewInt(int64(rng.Intn(1e9)))
			tx := &types.DepositTx{SourceHash: hash(), From: from, To: &logger, Mint: new(big.Int).Mul(big.NewInt(int64(1+rng.Intn(1e9))), big.NewInt(1e9)), Value: value, Gas: 200_000, Data: []byte("deposited")}
			if i%9 == 4 {
				tx.To, tx.Data, tx.Mint = nil, hexutil.MustDecode("0x6001600c60003960016000f300"), nil
				tx.Value = common.Big0
			}
			if i%9 == 7 {
				tx.Value = new(big.Int).Exp(common.Big2, big.NewInt(100), nil)
			}
			b.AddTx(types.NewTx(tx))
		}
		if first && cfg.IsJovian(time) && !cfg.IsJovian(time-10) {
			return // only deposits
		}
		if *executed {
			addTransactions(b, cfg, keys, rng, i, time, hash)
		}
		for k := 0; k < i%4; k++ {
			key := keys[rng.Intn(len(keys))]
			from := crypto.PubkeyToAddress(key.PublicKey)
			payload := make([]byte, rng.Intn(300))
			if k%2 == 0 {
				rng.Read(payload)
			} else {
				for j := range payload {
					payload[j] = byte(j / 40)
				}
			}
			nonce := b.TxNonce(from)
			var inner types.TxData
			fee := new(big.Int).Add(b.BaseFee(), big.NewInt(int64(1+rng.Intn(1e9))))
			switch {
			case k == 2 && cfg.IsIsthmus(time):
				auth, _ := types.SignSetCode(keys[0], types.SetCodeAuthorization{ChainID: *uint256.NewInt(34034), Address: logger, Nonce: 1 << 40})
				inner = &types.SetCodeTx{ChainID: uint256.NewInt(34034), Nonce: nonce, GasTipCap: uint256.NewInt(1e6), GasFeeCap: uint256.MustFromBig(fee), Gas: 300_000, To: logger, Value: uint256.NewInt(3), Data: payload, AuthList: []types.SetCodeAuthorization{auth}}
			case rng.Intn(3) == 0:
				inner = &types.LegacyTx{Nonce: nonce, GasPrice: fee, Gas: 200_000, To: &logger, Value: big.NewInt(5), Data: payload}
			case rng.Intn(3) == 0:
				inner = &types.AccessListTx{ChainID: cfg.ChainID, Nonce: nonce, GasPrice: fee, Gas: 200_000, To: &logger, Value: big.NewInt(7), Data: payload, AccessList: types.AccessList{{Address: logger, StorageKeys: []common.Hash{{1}}}}}
			default:
				inner = &types.DynamicFeeTx{ChainID: cfg.ChainID, Nonce: nonce, GasTipCap: big.NewInt(1e6), GasFeeCap: fee, Gas: 200_000, To: &logger, Value: common.Big0, Data: payload}
			}
			b.AddTx(types.MustSignNewTx(key, types.LatestSigner(cfg), inner))
		}
	})
	out := json.NewEncoder(os.Stdout)
	first := genesis.ToBlock()
	out.Encode(map[string]any{"genesis": genesis, "hash": first.Hash()})
	ctx := context.Background()
	write := func(block *types.Block, list types.Receipts) {
		raw, err := rlp.EncodeToBytes(block)
		if err != nil {
			panic(err)
		}
		fields, err := ethapi.RPCMarshalBlock(ctx, block, true, true, cfg, getter{block.Hash(): list})
		if err != nil {
			panic(err)
		}
		signer := types.MakeSigner(cfg, block.Number(), block.Time())
		raws, objects := []hexutil.Bytes{}, []any{}
		for i, r := range list {
			bin, err := r.MarshalBinary()
			if err != nil {
				panic(err)
			}
			raws = append(raws, bin)
			objects = append(objects, ethapi.MarshalReceipt(r, block.Hash(), block.NumberU64(), signer, block.Transactions()[i], i, cfg))
		}
		if *executed {
			out.Encode(executedBlock(db, cfg, genesis, append([]*types.Block{first}, blocks...), block, raw))
			return
		}
		out.Encode(map[string]any{"raw": hexutil.Bytes(raw), "rawReceipts": raws, "block": fields, "receipts": objects})
	}
	if *executed {
		insertAll(genesis, blocks)
	}
	write(first, nil)
	for i, block := range blocks {
		write(block, receipts[i])
	}
}
