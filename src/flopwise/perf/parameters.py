"""Parameters of an architecture: how many in all, how many one token meets, and where they sit.

Total = embedding + head + learned positions + layers x (attention + MLP or experts + norms) + final norm + what
``extra_parameters`` states. Matrices as in ``shapes``; biases, head norms and router biases are added here, because
they count in a published total and weigh nothing in time or memory.
"""

from __future__ import annotations

from dataclasses import dataclass

from flopwise.domain.model_arch import Experts, ModelArch
from flopwise.perf.shapes import Sizes, sizes


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterCount:
    """Parameters (elements, not bytes). The parts of ``total`` are all others but ``active``.

    ``active`` is what one token meets, embeddings included: the whole of a dense model, and of a mixture all but
    the experts that the router does not choose. ``mlp`` holds dense and shared MLPs, ``experts`` the routed experts
    and their routers. ``attention`` holds ``extra_parameters`` too. ``lm_head`` is 0 where it is the embedding.
    """

    total: float
    active: float
    embedding: float
    lm_head: float
    attention: float
    mlp: float
    experts: float
    norms: float


def count(arch: ModelArch) -> ParameterCount:
    """Count the parameters of ``arch``; O(1). Weight precision does not matter: elements, not bytes."""
    size = sizes(arch)
    embedding = size.embedding + float(arch.learned_positions * arch.hidden)
    attention = arch.layers * (size.attention + _attention_biases(arch, size)) + arch.extra_parameters
    mlp = size.dense_layers * (size.dense_mlp + _mlp_biases(arch, arch.ffn)) + size.expert_layers * size.shared
    experts, idle = (0.0, 0.0) if arch.experts is None else _experts(arch, arch.experts, size)
    norms = _norms(arch, size)
    total = embedding + size.head + attention + mlp + experts + norms
    return ParameterCount(
        total=total,
        active=total - idle,
        embedding=embedding,
        lm_head=size.head,
        attention=attention,
        mlp=mlp,
        experts=experts,
        norms=norms,
    )


def _attention_biases(arch: ModelArch, size: Sizes) -> float:
    """Biases of the query, key and value matrices, and of the output matrix where all matrices have one."""
    inputs = size.query + size.key + size.value if arch.qkv_bias or arch.linear_bias else 0.0
    return inputs + (arch.hidden if arch.linear_bias else 0.0)


def _mlp_biases(arch: ModelArch, width: int) -> float:
    return float((2 if arch.gated else 1) * width + arch.hidden) if arch.linear_bias else 0.0


def _experts(arch: ModelArch, experts: Experts, size: Sizes) -> tuple[float, float]:
    """Parameters of all routed experts with their routers, and of those that one token does not meet."""
    one = size.expert + _mlp_biases(arch, experts.ffn)
    router = size.router + (experts.count if experts.router_bias else 0)
    idle = max(experts.count - experts.top_k, 0)
    return experts.layers * (experts.count * one + router), experts.layers * idle * one


def _norms(arch: ModelArch, size: Sizes) -> float:
    """Norms of the layers and the final one; of heads and of the latent vectors where there are such.

    A norm with a bias (models whose matrices have biases) has two vectors.
    """
    per_layer = size.norms
    if arch.latent:
        per_layer += arch.latent.kv_rank + (arch.latent.q_rank or 0)
    elif arch.qk_norm:
        per_layer += 2.0 * arch.head_dim
    final = float(arch.hidden) if arch.norms_per_layer else 0.0
    vectors = 2.0 if arch.linear_bias and not arch.gated else 1.0
    return vectors * (arch.layers * per_layer + final)
