"""Fields of a model description, read one by one, each within bounds and each refused by its name.

A field that is read counts as understood. Of the rest, names that speak of sizes, heads, layers or attention are
refused, because a size that is not understood would be a wrong parameter count without a word.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NoReturn, cast

from flopwise.ground.errors import ModelFormatError

#: Largest size of any field: far above every model, far below what would overflow a product of a few of them.
MOST = 100_000_000
MOST_LAYERS = 10_000

_SPEAKS_OF_SIZE = re.compile(
    r"(_dim|_size|_rank|_width|_channels|_multiplier)s?$|^(d|n|num|dim)_|head|expert|layer|attn|attention|window|moe|mlp|ffn|bias|rope"
    r"|latent|mamba|ssm|conv|state|shared|tie_"
)
#: Fields that speak of sizes and change none: training, initialisation, routing, rotary frequencies, run time, tokens.
_HARMLESS = frozenset(
    {
        "attention_dropout", "attn_dropout", "attn_pdrop", "hidden_dropout", "hidden_dropout_prob", "attention_softmax_in_fp32",
        "attn_implementation", "_attn_implementation", "attn_logit_softcapping", "query_pre_attn_scalar",
        "final_logit_softcapping", "sliding_window_size", "use_bidirectional_attention", "index_topk", "full_attn_mod",
        "cache_implementation", "apply_query_key_layer_scaling", "apply_residual_connection_post_layernorm", "attention_factor",
        "hidden_act", "hidden_activation", "rope_theta", "rope_scaling", "rope_parameters", "rope_ratio", "rope_interleave",
        "rope_local_base_freq", "rope_type", "use_rope", "partial_rotary_factor", "rotary_pct", "original_rope",
        "layer_norm_eps", "layer_norm_epsilon", "layernorm_epsilon", "layernorm", "rmsnorm", "post_layer_norm",
        "attention_multiplier", "initial_context_length", "max_window_layers", "router_jitter_noise", "input_jitter_noise",
        "output_attentions", "output_hidden_states", "output_router_logits", "router_aux_loss_coef", "aux_loss_alpha", "seq_aux",
        "moe_router_activation_func", "scoring_func", "topk_method", "norm_topk_prob", "moe_renormalize", "ep_size",
        "n_group", "topk_group", "num_expert_group", "router_z_loss_coef", "moe_implementation", "num_beams", "num_beam_groups",
        "num_return_sequences", "chunk_size_feed_forward", "pruned_heads", "num_labels", "problem_type", "no_repeat_ngram_size",
        "encoder_no_repeat_ngram_size", "num_nextn_predict_layers", "is_encoder_decoder", "add_cross_attention",
        "cross_attention_hidden_size", "tie_encoder_decoder", "use_flash_attn", "flash_attention", "use_cache",
        "attn_temperature_tuning", "floor_scale", "attn_scale", "use_qk_norm", "no_rope_layers", "no_rope_layer_interval",
        "interpolate_layers", "kv_cache_dtype", "train_dtype", "fp32_residual_connection", "original_rope_scaling",
        "attention_sink", "bias_dropout_fusion", "prefix_projection", "pre_seq_len", "classifier_dropout", "mtp_num_layers",
        "pretraining_tp", "tensor_parallel_size", "type_vocab_size", "vocab_padding_size", "moe_layers_fp32",
        "embedding_multiplier", "logits_scaling", "residual_multiplier",
    }
)  # fmt: skip


class Fields:
    """One table of a model description. Every refusal names the field, with the path to it."""

    def __init__(self, values: Mapping[str, object], file: str, path: str = "") -> None:
        self.values, self.file, self.path = values, file, path
        self._read: set[str] = set()

    def refuse(self, field: str, message: str, hint: str = "") -> NoReturn:
        """Stop, naming the field."""
        text = f"{self.file}: {self.path}{field}: {message}"
        raise ModelFormatError(text, hint=hint)

    def has(self, field: str) -> bool:
        """Whether a field is there and not null."""
        return self.values.get(field) is not None

    def whole(self, field: str, default: int | None = None, *, least: int = 1, most: int = MOST) -> int:
        """A whole number within bounds; ``default`` where the field is absent or null.

        Raises:
            ModelFormatError: missing without a default, no whole number, or out of bounds.
        """
        self._read.add(field)
        value = self.values.get(field)
        if value is None:
            if default is None:
                self.refuse(field, f"is missing; expected a whole number of at least {least}")
            return default
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            self.refuse(field, f"{_shown(value)} is not a whole number")
        if not least <= value <= most:
            self.refuse(field, f"{_shown(value)} is not between {least} and {most}")
        return value

    def first_whole(self, *names: str, default: int | None = None) -> int:
        """The first of several spellings that is there. All of them count as understood."""
        self._read.update(names)
        for name in names:
            if self.has(name):
                return self.whole(name)
        return self.whole(names[0], default)

    def flag(self, field: str, *, default: bool) -> bool:
        """True or false; ``default`` where the field is absent or null."""
        self._read.add(field)
        value = self.values.get(field)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.refuse(field, f"{_shown(value)} is not true or false")
        return value

    def word(self, field: str, default: str = "") -> str:
        """A text; ``default`` where the field is absent or null."""
        self._read.add(field)
        value = self.values.get(field)
        if value is None:
            return default
        if not isinstance(value, str):
            self.refuse(field, f"{_shown(value)} is not a text")
        return value

    def words(self, field: str, known: Sequence[str], length: int) -> list[str] | None:
        """A list of ``length`` words out of ``known``; ``None`` where the field is absent or null."""
        self._read.add(field)
        value = self.values.get(field)
        if value is None:
            return None
        if not isinstance(value, list):
            self.refuse(field, f"{_shown(value)} is not a list")
        items = cast("list[object]", value)
        for item in items:
            if item not in known:
                self.refuse(field, f"{_shown(item)} is not understood; known: {', '.join(known)}")
        if len(items) != length:
            self.refuse(field, f"{len(items)} entries for {length} layers")
        return [str(item) for item in items]

    def indices(self, field: str, below: int) -> frozenset[int]:
        """A list of layer numbers, empty where the field is absent or null."""
        self._read.add(field)
        value = self.values.get(field)
        if value is None:
            return frozenset()
        items = cast("list[object]", value) if isinstance(value, list) else self.refuse(field, f"{_shown(value)} is not a list")
        found: set[int] = set()
        for item in items:
            if isinstance(item, bool) or not isinstance(item, int) or not 0 <= item < below:
                self.refuse(field, f"{_shown(item)} is not the number of a layer below {below}")
            found.add(item)
        return frozenset(found)

    def must_be(self, field: str, *allowed: object) -> None:
        """Refuse a value of which the formulas know nothing; absent and null are allowed."""
        self._read.add(field)
        value = self.values.get(field)
        if value is not None and value not in allowed:
            self.refuse(field, f"{_shown(value)} is not understood; expected {' or '.join(_shown(item) for item in allowed)}")

    def refuse_unknown(self, *also_known: str) -> None:
        """Refuse the first field that was not read, means something to sizes by its name, and is set.

        Null, false, 0 and empty values switch a thing off, so they are let pass.
        """
        known = self._read | _HARMLESS | set(also_known)
        for field, value in self.values.items():
            quiet = value is None or value is False or value in (0, "", [], {})
            if field not in known and not quiet and not field.endswith("_token_id") and _SPEAKS_OF_SIZE.search(field):
                self.refuse(
                    field,
                    f"is not understood for this model_type, and may change sizes (value {_shown(value)})",
                    hint="describe the architecture inline in the scenario, or choose a catalogue model",
                )


def _shown(value: object, most: int = 60) -> str:
    """A value for a message, cut where it is long."""
    text = f"{value:.3g}" if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 10 * MOST else repr(value)
    return text if len(text) <= most else f"{text[:most]}..."
