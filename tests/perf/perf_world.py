"""Small world of the perf tests: devices and models with round, published figures."""

from __future__ import annotations

from flopwise.domain.hardware import Accelerator, Platform
from flopwise.domain.model_arch import Experts, LatentAttention, ModelArch
from flopwise.domain.provenance import Confidence, Fact
from flopwise.domain.workload import Growth, Lengths, ServingWorkload, Slo, TrafficProfile, TrainingWorkload

GB = 1e9


def fact(value: float, unit: str = "") -> Fact:
    return Fact(value=value, unit=unit, source="test", as_of="2026-01-01", confidence=Confidence.HIGH)


def accelerator(
    name: str = "h100",
    *,
    memory: float = 80 * GB,
    bandwidth: float = 3.35e12,
    bf16: float = 989e12,
    fp8: float | None = 1979e12,
    ceiling: float | None = 0.80,
    link: float | None = 450e9,
    domain: int = 8,
    vendor: str = "NVIDIA",
) -> Accelerator:
    peak = {"bf16": fact(bf16)} | ({"fp8": fact(fp8)} if fp8 else {})
    return Accelerator(
        id=name,
        name=name,
        vendor=vendor,
        architecture="test",
        released="2022-09",
        memory=fact(memory),
        memory_bandwidth=fact(bandwidth),
        peak=peak,
        achievable={"bf16": fact(ceiling), "fp8": fact(0.71)} if ceiling else {},
        scale_up_bandwidth=fact(link) if link else None,
        scale_up_domain=domain,
    )


def platform(device: Accelerator | None = None, *, servers: int = 8, network: float = 50e9) -> Platform:
    device = device or accelerator()
    return Platform(id=f"{device.id}-x{servers}", accelerator=device, accelerators=servers, network_bandwidth=network)


def b200() -> Accelerator:
    return accelerator("b200", memory=180 * GB, bandwidth=7.7e12, bf16=2250e12, fp8=4500e12, ceiling=0.78, link=900e9)


def b300() -> Accelerator:
    return accelerator("b300", memory=270 * GB, bandwidth=8e12, bf16=2250e12, fp8=4500e12, ceiling=0.786, link=900e9)


def llama(layers: int, hidden: int, heads: int, ffn: int, kv_heads: int = 8, vocab: int = 128256, **more) -> ModelArch:
    return ModelArch(
        id=f"llama-{layers}-{hidden}",
        name=f"llama {layers} x {hidden}",
        family="llama",
        layers=layers,
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads,
        head_dim=128,
        ffn=ffn,
        vocab=vocab,
        max_position=131072,
        **more,
    )


LLAMA_8B = llama(32, 4096, 32, 14336)
LLAMA_70B = llama(80, 8192, 64, 28672)
LLAMA_405B = llama(126, 16384, 128, 53248)
DEEPSEEK = ModelArch(
    id="deepseek-v3",
    name="DeepSeek V3",
    family="deepseek",
    layers=61,
    hidden=7168,
    heads=128,
    kv_heads=128,
    head_dim=192,
    ffn=18432,
    vocab=129280,
    max_position=163840,
    latent=LatentAttention(kv_rank=512, q_rank=1536, rope_head_dim=64, nope_head_dim=128, value_head_dim=128),
    experts=Experts(count=256, top_k=8, ffn=2048, shared=1, shared_ffn=2048, layers=58),
)


def training(model: ModelArch = LLAMA_8B, **changes) -> TrainingWorkload:
    values = {
        "name": "train", "kind": "training", "model": model, "tokens": 1e12, "epochs": 1.0, "precision": "bf16",
        "sequence": 8192, "global_batch": 4e6, "window": None,
    } | changes  # fmt: skip
    return TrainingWorkload(**values)


def serving(model: ModelArch = LLAMA_70B, **changes) -> ServingWorkload:
    traffic = TrafficProfile(
        peak=10.0, profile="flat", timezone="UTC", growth=Growth(p10=0, p50=0, p90=0), origin="peak", derivation=""
    )
    values = {
        "name": "serve", "kind": "serving", "model": model, "precision": "fp8", "kv_precision": "fp8", "engine": "vllm",
        "traffic": traffic, "input": Lengths(mean=1200, p95=4000), "output": Lengths(mean=250, p95=800),
        "prefix_cache_hit": 0.3, "slo": Slo(ttft_p95=0.8, tpot_p95=0.045), "zones": 1,
    } | changes  # fmt: skip
    return ServingWorkload(**values)
